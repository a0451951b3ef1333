# mha-grade: free; expect: failed; in: shapes; mistake: value-size-ignored
import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    def __init__(self, n_heads, d_model, d_k, d_v):
        super().__init__()
        self.n_heads, self.d_k, self.d_v = n_heads, d_k, d_v
        self.W_Q = nn.Linear(d_model, d_k * n_heads)
        self.W_K = nn.Linear(d_model, d_k * n_heads)
        self.W_V = nn.Linear(d_model, d_v * n_heads)
        self.linear = nn.Linear(n_heads * d_k, d_model)

    def forward(self, Q, K, V, attn_mask=None):
        B = Q.size(0)
        q_s = self.W_Q(Q).view(B, -1, self.n_heads, self.d_k).transpose(1, 2)
        k_s = self.W_K(K).view(B, -1, self.n_heads, self.d_k).transpose(1, 2)
        v_s = self.W_V(V).view(B, -1, self.n_heads, self.d_v).transpose(1, 2)
        scores = torch.matmul(q_s, k_s.transpose(-1, -2)) / self.d_k**0.5
        if attn_mask is not None:
            scores = scores.masked_fill(attn_mask.unsqueeze(1), float("-inf"))
        attn = torch.nan_to_num(scores.softmax(-1))
        context = torch.matmul(attn, v_s).transpose(1, 2).contiguous().view(B, -1, self.n_heads * self.d_v)
        return self.linear(context), attn
