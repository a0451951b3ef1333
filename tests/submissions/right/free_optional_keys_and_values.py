# mha-grade: free; expect: passed
import torch
from torch import Tensor, nn


class MHA(nn.Module):
    @staticmethod
    def _scores(q: Tensor, k: Tensor) -> Tensor:
        return torch.baddbmm(q.new_zeros(1, 1, 1), q, k.transpose(1, 2), beta=0, alpha=q.size(-1) ** -0.5)

    @classmethod
    def from_sizes(cls, d, h):
        return cls(d, h)

    def __init__(self, model_dim, n_heads):
        super().__init__()
        if model_dim % n_heads != 0:
            raise ValueError(f"{model_dim=} {n_heads=}")
        self.n_heads = n_heads
        self.Wq, self.Wk, self.Wv, self.Wo = [nn.Linear(model_dim, model_dim, bias=False) for _ in range(4)]

    def _fold(self, t):
        b, n, d = t.shape
        return t.reshape(b, n, self.n_heads, -1).permute(0, 2, 1, 3).reshape(b * self.n_heads, n, -1)

    def forward(self, queries, keys=None, values=None, blocked=None):
        keys = queries if keys is None else keys
        values = keys if values is None else values
        b, n, d = queries.shape
        s = self._scores(self._fold(self.Wq(queries)), self._fold(self.Wk(keys))).view(b, self.n_heads, n, -1)
        if blocked is not None:
            s = s.masked_fill(blocked, float("-inf"))
        w = torch.nan_to_num(torch.softmax(s, -1), nan=0.0)
        o = torch.bmm(w.flatten(0, 1), self._fold(self.Wv(values)))
        o = o.view(b, self.n_heads, n, -1).transpose(1, 2).reshape(b, n, d)
        return self.Wo(o)
