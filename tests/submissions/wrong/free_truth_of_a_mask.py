# mha-grade: free; expect: failed; in: padding-mask; mistake: mask-tested-for-truth; line: 24
import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        dim, heads = config["dim"], config["n_heads"]
        if dim % heads:
            raise ValueError("dim must be a multiple of n_heads")
        self.heads = heads
        self.query = nn.Linear(dim, dim)
        self.key = nn.Linear(dim, dim)
        self.value = nn.Linear(dim, dim)
        self.out = nn.Linear(dim, dim)
        self.dropout = nn.Dropout(config.get("dropout", 0.0))

    def forward(self, x, mask=None):
        b, n, d = x.shape
        q, k, v = [f(x).reshape(b, n, self.heads, d // self.heads).transpose(1, 2)
                   for f in (self.query, self.key, self.value)]
        scores = torch.matmul(q, k.transpose(2, 3)) / (d // self.heads) ** 0.5
        if mask:
            scores = scores.masked_fill(mask == 0, torch.finfo(scores.dtype).min)
        weights = scores.softmax(dim=-1)
        if mask:
            weights = weights.masked_fill(mask == 0, 0.0)
        y = torch.matmul(self.dropout(weights), v)
        return {"output": self.out(y.transpose(1, 2).reshape(b, n, d)), "weights": weights}
