# mha-grade: free; expect: passed
import torch
import torch.nn as nn


class MultiHeadAttentionLayer(nn.Module):
    def __init__(self, hid_dim, n_heads, dropout, device="cpu"):
        super().__init__()
        assert hid_dim % n_heads == 0
        self.hid_dim = hid_dim
        self.n_heads = n_heads
        self.head_dim = hid_dim // n_heads
        self.fc_q = nn.Linear(hid_dim, hid_dim, device=device)
        self.fc_k = nn.Linear(hid_dim, hid_dim, device=device)
        self.fc_v = nn.Linear(hid_dim, hid_dim, device=device)
        self.fc_o = nn.Linear(hid_dim, hid_dim, device=device)
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        # query = [batch size, query len, hid dim], mask = [batch size, 1, 1, key len]
        batch_size = query.shape[0]
        size = (self.n_heads, self.head_dim)
        Q = self.fc_q(query).unflatten(-1, size).movedim(2, 1)
        K = self.fc_k(key).unflatten(-1, size).movedim(2, 1)
        V = self.fc_v(value).unflatten(-1, size).movedim(2, 1)
        energy = torch.matmul(Q, K.mT) * self.head_dim ** -0.5
        if mask is not None:
            energy = torch.where(mask == 0, torch.finfo(energy.dtype).min, energy)
        attention = energy.softmax(dim=-1)
        if mask is not None:
            attention = attention * (mask != 0)
        x = torch.matmul(self.dropout(attention), V)
        return self.fc_o(x.transpose(1, 2).reshape(batch_size, -1, self.hid_dim)), attention
