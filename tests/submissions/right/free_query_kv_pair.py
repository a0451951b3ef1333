# mha-grade: free; expect: passed
import torch
import torch.nn as nn


class CrossAttentionBlock(nn.Module):
    """Decoder reads from the encoder: queries from one side, one kv matrix for the other."""

    def __init__(self, heads, width, attn_pdrop=0.0):
        super().__init__()
        if width % heads != 0:
            raise ValueError("width % heads != 0")
        self.heads = heads
        self.proj_q = nn.Linear(width, width)
        self.proj_kv = nn.Linear(width, 2 * width)
        self.proj_out = nn.Linear(width, width)
        self.attn_pdrop = nn.Dropout(attn_pdrop)

    def forward(self, query, kv):
        q = self.proj_q(query)
        k, v = self.proj_kv(kv).chunk(2, dim=-1)
        outs = []
        step = q.size(-1) // self.heads
        for i in range(self.heads):
            s = slice(i * step, (i + 1) * step)
            w = torch.baddbmm(q.new_zeros(1), q[..., s], k[..., s].transpose(1, 2), alpha=step ** -0.5)
            outs.append(self.attn_pdrop(w.softmax(2)) @ v[..., s])
        return self.proj_out(torch.cat(outs, dim=2))
