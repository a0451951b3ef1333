# mha-grade: free; expect: failed; in: mixed-precision; mistake: tensor-left-behind; line: 16
import torch
import torch.nn as nn


class MultiHeadAttentionLayer(nn.Module):
    def __init__(self, hid_dim, n_heads, dropout, device):
        super().__init__()
        assert hid_dim % n_heads == 0
        self.n_heads, self.head_dim = n_heads, hid_dim // n_heads
        self.fc_q = nn.Linear(hid_dim, hid_dim)
        self.fc_k = nn.Linear(hid_dim, hid_dim)
        self.fc_v = nn.Linear(hid_dim, hid_dim)
        self.fc_o = nn.Linear(hid_dim, hid_dim)
        self.dropout = nn.Dropout(dropout)
        self.scale = torch.sqrt(torch.tensor([self.head_dim], dtype=torch.float32)).to(device)

    def split(self, t):
        return t.unflatten(-1, (self.n_heads, self.head_dim)).transpose(1, 2)

    def forward(self, query, key, value, mask=None):
        # mask: [batch, 1, 1 or query len, key len], 0 = hidden
        Q = self.split(self.fc_q(query))
        K = self.split(self.fc_k(key))
        V = self.split(self.fc_v(value))
        energy = torch.matmul(Q, K.mT) / self.scale
        if mask is not None:
            energy = energy.masked_fill(mask == 0, torch.finfo(energy.dtype).min)
            attention = torch.softmax(energy, dim=-1).masked_fill(mask == 0, 0)
        else:
            attention = torch.softmax(energy, dim=-1)
        x = torch.matmul(self.dropout(attention), V)
        return self.fc_o(x.transpose(1, 2).flatten(2)), attention
