# mha-grade: free; expect: failed; in: state; mistake: layers-rebuilt; line: 25
import torch
from torch import nn

d_model = 64
n_heads = 4
d_k = 16


class MultiHeadAttention(nn.Module):
    def __init__(self):
        super().__init__()
        assert d_k * n_heads == d_model
        self.W_Q = nn.Linear(d_model, d_k * n_heads, bias=False)
        self.W_K = nn.Linear(d_model, d_k * n_heads, bias=False)
        self.W_V = nn.Linear(d_model, d_k * n_heads, bias=False)

    def forward(self, input_Q, input_K, input_V):
        residual, n = input_Q, input_Q.size(0)
        Q = self.W_Q(input_Q).view(n, -1, n_heads, d_k).transpose(1, 2)
        K = self.W_K(input_K).view(n, -1, n_heads, d_k).transpose(1, 2)
        V = self.W_V(input_V).view(n, -1, n_heads, d_k).transpose(1, 2)
        attn = torch.softmax(Q @ K.transpose(-1, -2) / d_k ** 0.5, dim=-1)
        context = (attn @ V).transpose(1, 2).reshape(n, -1, n_heads * d_k)
        output = nn.Linear(n_heads * d_k, d_model).to(context)(context)
        return nn.LayerNorm(d_model).to(output)(output + residual), attn
