# mha-grade: free; expect: passed
import torch
from torch import nn


class DecoderAttention(nn.Module):
    """Gives back keys and values too, for whoever wants to go on from there."""

    def __init__(self, n_embd, n_head, max_len=512):
        super().__init__()
        if n_embd % n_head:
            raise ValueError("n_embd should be a multiple of n_head")
        self.n_head = n_head
        self.max_len = max_len
        self.attn_qkv = nn.Linear(n_embd, 3 * n_embd, bias=False)
        self.attn_out = nn.Linear(n_embd, n_embd, bias=False)

    def forward(self, x, causal=True):
        b, t, c = x.shape
        q, k, v = self.attn_qkv(x).view(b, t, 3, self.n_head, -1).permute(2, 0, 3, 1, 4).unbind()
        scores = torch.einsum("bhqd,bhkd->bhqk", q, k) / q.shape[-1] ** 0.5
        if causal:
            i = torch.arange(t, device=x.device)
            scores = scores.masked_fill(i[None, :] > i[:, None], float("-inf"))
        y = scores.softmax(-1) @ v
        return self.attn_out(y.transpose(1, 2).reshape(b, t, c)), k, v
