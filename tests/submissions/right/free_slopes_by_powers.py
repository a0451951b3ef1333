# mha-grade: free; expect: passed
import math
import torch
import torch.nn as nn


def get_slopes(n):
    def power_of_2(n):
        start = 2 ** (-2 ** -(math.log2(n) - 3))
        return [start * start**i for i in range(n)]
    if math.log2(n).is_integer():
        return power_of_2(n)
    m = 2 ** math.floor(math.log2(n))
    return power_of_2(m) + get_slopes(2 * m)[0::2][: n - m]


class ALiBiAttention(nn.Module):
    def __init__(self, dim, n_heads, max_len=2048):
        super().__init__()
        assert dim % n_heads == 0
        self.n_heads, self.d = n_heads, dim // n_heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)
        self.register_buffer("slopes", torch.tensor(get_slopes(n_heads)).view(1, n_heads, 1, 1))

    def forward(self, x):
        b, n, _ = x.shape
        q, k, v = (t.view(b, n, self.n_heads, self.d).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        pos = torch.arange(n, device=x.device)
        bias = (pos[None, :] - pos[:, None]).to(x.dtype) * self.slopes
        s = q @ k.transpose(-1, -2) / math.sqrt(self.d) + bias
        s = s.masked_fill(pos[None, :] > pos[:, None], float("-inf"))
        return self.out((s.softmax(-1) @ v).transpose(1, 2).reshape(b, n, -1))
