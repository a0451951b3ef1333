# mha-grade: free; expect: passed
# toy translation model, part 2: attention
import torch
from torch import nn

D_MODEL = 64
N_HEADS = 8
P_DROP = 0.1


class MultiHeadAttention(nn.Module):
    def __init__(self):
        super().__init__()
        assert D_MODEL % N_HEADS == 0
        self.W_Q = nn.Linear(D_MODEL, D_MODEL)
        self.W_K = nn.Linear(D_MODEL, D_MODEL)
        self.W_V = nn.Linear(D_MODEL, D_MODEL)
        self.W_O = nn.Linear(D_MODEL, D_MODEL)
        self.drop = nn.Dropout(P_DROP)

    def forward(self, Q, K, V, attn_mask):
        # attn_mask: [batch, len_q, len_k], True means "do not look"
        batch_size, d_head = Q.size(0), D_MODEL // N_HEADS
        q_s = self.W_Q(Q).view(batch_size, -1, N_HEADS, d_head).transpose(1, 2)
        k_s = self.W_K(K).view(batch_size, -1, N_HEADS, d_head).transpose(1, 2)
        v_s = self.W_V(V).view(batch_size, -1, N_HEADS, d_head).transpose(1, 2)

        scores = torch.matmul(q_s, k_s.transpose(-1, -2)) / d_head ** 0.5
        if attn_mask is not None:
            attn_mask = attn_mask.bool().unsqueeze(1).expand_as(scores)
            scores = scores.masked_fill(attn_mask, torch.finfo(scores.dtype).min)
        attn = nn.Softmax(dim=-1)(scores)
        if attn_mask is not None:
            attn = attn.masked_fill(attn_mask, 0)
        context = torch.matmul(self.drop(attn), v_s)
        context = context.transpose(1, 2).contiguous().view(batch_size, -1, D_MODEL)
        return self.W_O(context), attn
