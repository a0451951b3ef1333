# mha-grade: free; expect: failed; in: combined-masks; mistake: padding-mask-ignored; line: 25
import torch
from torch import nn


class MaskedMHA(nn.Module):
    """(time, batch, features); key_padding_mask True where there is only padding."""

    def __init__(self, num_heads, num_feat, *, p=0.0):
        super().__init__()
        if num_feat % num_heads:
            raise ValueError('bad number of heads')
        self.num_heads = num_heads
        self.inp = nn.Linear(num_feat, 3 * num_feat)
        self.out = nn.Linear(num_feat, num_feat)
        self.p = nn.Dropout(p)

    def forward(self, x, key_padding_mask=None, causal=False):
        T, N, E = x.shape
        q, k, v = self.inp(x).view(T, N, 3, self.num_heads, -1).permute(2, 1, 3, 0, 4)
        hide = torch.zeros(N, 1, T, T, dtype=torch.bool, device=x.device)
        if key_padding_mask is not None:
            hide = key_padding_mask[:, None, None, :].expand(N, 1, T, T)
        if causal:
            hide = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
        s = (q @ k.mT) * q.size(-1) ** -0.5
        a = s.masked_fill(hide, torch.finfo(s.dtype).min).softmax(-1).masked_fill(hide, 0)
        return self.out((self.p(a) @ v).permute(2, 0, 1, 3).reshape(T, N, E))
