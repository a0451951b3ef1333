# mha-grade: causal-self-attention; expect: failed; in: shapes; mistake: key-reshaped-not-transposed; line: 34
import torch
import torch.nn as nn


class GPTAttention(nn.Module):
    """x @ W throughout, q, k and v from one matrix."""

    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"{num_heads} heads in a width of {d_model}")
        self.n_head, self.n_embd, self.p = num_heads, d_model, dropout
        self.c_attn = nn.Parameter(torch.randn(d_model, 3 * d_model) * 0.02)
        self.c_bias = nn.Parameter(torch.zeros(3 * d_model))
        self.c_proj = nn.Parameter(torch.randn(d_model, d_model) * 0.02)
        self.p_bias = nn.Parameter(torch.zeros(d_model))

    def to_heads(self, t):
        return t.reshape(*t.shape[:2], self.n_head, -1).movedim(2, 1)

    def seen(self, n, padding_mask, device):
        steps = torch.arange(n, device=device)
        past = steps.unsqueeze(1) >= steps
        if padding_mask is None:
            return past[None, None]
        return past & padding_mask[:, None, None, :]

    def forward(self, x, padding_mask=None):
        b, n, m = x.shape
        q, k, v = (x @ self.c_attn + self.c_bias).split(self.n_embd, dim=-1)
        q, k, v = self.to_heads(q), self.to_heads(k), self.to_heads(v)
        seen = self.seen(n, padding_mask, x.device)
        att = torch.matmul(q, k.reshape(b, self.n_head, -1, n)).div(q.size(-1) ** 0.5)
        att = torch.where(seen, att, torch.finfo(att.dtype).min)
        att = att.softmax(dim=3) * seen
        y = torch.matmul(nn.functional.dropout(att, self.p, self.training), v)
        y = y.movedim(1, 2).reshape(b, n, m)
        return y @ self.c_proj + self.p_bias, att
