# mha-grade: free; expect: passed
import torch
from torch import nn, einsum


class MultiHeadAttention(nn.Module):
    def __init__(self, *, num_heads: int, model_size: int, key_size: int):
        super().__init__()
        shape = (num_heads, model_size, key_size)
        self.wq = nn.Parameter(torch.empty(shape))
        self.wk = nn.Parameter(torch.empty(shape))
        self.wv = nn.Parameter(torch.empty(shape))
        self.wo = nn.Parameter(torch.empty(num_heads, key_size, model_size))
        self.key_size = key_size
        for w in self.parameters():
            nn.init.normal_(w, std=model_size ** -0.5)

    def forward(self, query, key, value, mask=None):
        """mask[b, t, T]: True where query t may look at key T"""
        q = einsum('btd,hdk->bhtk', query, self.wq)
        k = einsum('bTd,hdk->bhTk', key, self.wk)
        v = einsum('bTd,hdk->bhTk', value, self.wv)
        logits = einsum('bhtk,bhTk->bhtT', q, k) * self.key_size ** -0.5
        if mask is not None:
            seen = mask[:, None]
            seen_or_empty = seen | ~seen.any(dim=-1, keepdim=True)
            logits = torch.where(seen_or_empty, logits, float('-inf'))
            weights = torch.where(seen, logits.softmax(-1), 0.0)
        else:
            weights = logits.softmax(-1)
        return einsum('bhtT,bhTk,hkd->btd', weights, v, self.wo)
