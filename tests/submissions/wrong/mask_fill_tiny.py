# mha-grade: cross-attention; expect: failed; in: padding-mask; mistake: mask-filled-with-zero; line: 26
from torch import nn


class CrossAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("d_model must be divisible by num_heads")
        self.num_heads = num_heads
        self.d_k = d_model // num_heads
        self.wq = nn.Linear(d_model, d_model)
        self.wk = nn.Linear(d_model, d_model)
        self.wv = nn.Linear(d_model, d_model)
        self.wo = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def split(self, x):
        batch, length, _ = x.shape
        return x.reshape(batch, length, self.num_heads, self.d_k).permute(0, 2, 1, 3)

    def forward(self, query, key, value, mask=None):
        q, k, v = self.split(self.wq(query)), self.split(self.wk(key)), self.split(self.wv(value))
        logits = q @ k.mT * self.d_k**-0.5
        if mask is not None:
            logits = logits.masked_fill(mask == 0, -1e-9)
        attn = logits.softmax(dim=-1)
        if mask is not None:
            attn = attn.masked_fill(mask.any(dim=-1, keepdim=True) == 0, 0.0)
        out = (self.dropout(attn) @ v).permute(0, 2, 1, 3).flatten(2)
        return self.wo(out), attn
