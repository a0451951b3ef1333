# mha-grade: free; expect: failed; in: shapes; mistake: samples-mixed; line: 25
import torch
from torch import nn


class SelfAttention(nn.Module):
    """Speech frames [T, B, D], as in fairseq."""

    def __init__(self, model_dim, attn_heads):
        super().__init__()
        if model_dim % attn_heads:
            raise ValueError("model_dim")
        self.attn_heads, self.head_dim = attn_heads, model_dim // attn_heads
        self.linear_q = nn.Linear(model_dim, model_dim)
        self.linear_k = nn.Linear(model_dim, model_dim)
        self.linear_v = nn.Linear(model_dim, model_dim)
        self.linear_out = nn.Linear(model_dim, model_dim)

    def forward(self, x):
        T, B, D = x.shape

        def transpose_for_scores(y):
            # Frames of one sample must stay together.
            return (
                y.reshape(B * self.attn_heads, T, self.head_dim)
            )

        q = transpose_for_scores(self.linear_q(x))
        k = transpose_for_scores(self.linear_k(x))
        v = transpose_for_scores(self.linear_v(x))
        scores = torch.baddbmm(q.new_zeros(1, 1, 1), q, k.transpose(1, 2), alpha=self.head_dim**-0.5)
        context = torch.bmm(scores.softmax(2), v)
        return self.linear_out(context.reshape(T, B, D))
