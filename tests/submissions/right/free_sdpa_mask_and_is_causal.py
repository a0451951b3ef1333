# mha-grade: free; expect: passed
import torch
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, dim, n_heads=8, p=0.0):
        super().__init__()
        assert dim % n_heads == 0, 'dim has to be divisible by n_heads'
        self.n_heads = n_heads
        self.p = p
        self.q_proj = nn.Linear(dim, dim, bias=False)
        self.k_proj = nn.Linear(dim, dim, bias=False)
        self.v_proj = nn.Linear(dim, dim, bias=False)
        self.o_proj = nn.Linear(dim, dim, bias=False)

    def forward(self, x, attn_mask=None, is_causal=False):
        # attn_mask: (B, 1, 1 or L, L), True = take part
        B, L, D = x.shape
        q, k, v = (f(x).view(B, L, self.n_heads, D // self.n_heads).transpose(1, 2)
                   for f in (self.q_proj, self.k_proj, self.v_proj))
        if is_causal and attn_mask is not None:
            attn_mask = attn_mask & torch.ones(L, L, dtype=torch.bool, device=x.device).tril()
            is_causal = False          # torch takes one or the other
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=attn_mask, is_causal=is_causal,
                                           dropout_p=self.p * self.training)
        return self.o_proj(y.transpose(1, 2).reshape(B, L, D))
