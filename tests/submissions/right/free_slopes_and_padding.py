# mha-grade: free; expect: passed
import torch
import torch.nn as nn


class Attention(nn.Module):
    def __init__(self, hidden, n_head):
        super().__init__()
        assert hidden % n_head == 0
        self.n_head = n_head
        self.query_key_value = nn.Linear(hidden, 3 * hidden)
        self.dense = nn.Linear(hidden, hidden)
        slopes = torch.pow(2.0, -8.0 * torch.arange(1, n_head + 1) / n_head)
        self.register_buffer("slopes", slopes)

    def forward(self, x, attention_mask=None):
        """attention_mask: [B, L], 1 for tokens and 0 for padding. ALiBi bias as in BLOOM, causal."""
        B, L, D = x.shape
        q, k, v = self.query_key_value(x).view(B, L, self.n_head, 3, -1).unbind(3)
        q, k, v = (t.transpose(1, 2) for t in (q, k, v))
        alibi = self.slopes[:, None, None] * torch.arange(L, device=x.device).to(x.dtype)
        s = torch.baddbmm(alibi.repeat(B, 1, 1), q.flatten(0, 1), k.flatten(0, 1).transpose(1, 2), beta=1.0, alpha=q.shape[-1] ** -0.5).view(B, self.n_head, L, L)
        hidden = torch.ones(L, L, dtype=torch.bool, device=x.device).triu(1)[None, None]
        if attention_mask is not None:
            hidden = hidden | (attention_mask[:, None, None, :] == 0)
        w = s.masked_fill(hidden, torch.finfo(s.dtype).min).softmax(-1)
        w = w.masked_fill(hidden, 0.0)
        return self.dense((w @ v).transpose(1, 2).reshape(B, L, D))
