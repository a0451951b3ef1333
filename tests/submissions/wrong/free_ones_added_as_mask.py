# mha-grade: free; expect: failed; in: padding-mask; mistake: mask-added-as-ones
import torch.nn as nn
import torch.nn.functional as F


class TextAttention(nn.Module):
    def __init__(self, hidden, num_heads, p=0.0):
        super().__init__()
        assert hidden % num_heads == 0
        self.num_heads, self.p = num_heads, p
        self.q = nn.Linear(hidden, hidden)
        self.kv = nn.Linear(hidden, 2 * hidden)
        self.o = nn.Linear(hidden, hidden)

    def forward(self, x, attention_mask=None):
        """attention_mask from the tokenizer: (batch, length), 1 = token, 0 = padding"""
        q = self.q(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
        k, v = self.kv(x).unflatten(-1, (2, self.num_heads, -1)).permute(2, 0, 3, 1, 4)
        if attention_mask is not None:
            attention_mask = attention_mask[:, None, None, :].to(q.dtype)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=attention_mask,
                                           dropout_p=self.p if self.training else 0.0)
        return self.o(y.transpose(1, 2).flatten(-2))
