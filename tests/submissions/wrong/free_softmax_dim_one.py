# mha-grade: free; expect: failed; in: scaling; mistake: softmax-over-heads; line: 27
import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    def __init__(self, hid_dim, n_heads, dropout=0.1):
        super().__init__()
        assert hid_dim % n_heads == 0
        self.n_heads = n_heads
        self.head_dim = hid_dim // n_heads
        self.fc_q = nn.Linear(hid_dim, hid_dim)
        self.fc_k = nn.Linear(hid_dim, hid_dim)
        self.fc_v = nn.Linear(hid_dim, hid_dim)
        self.fc_o = nn.Linear(hid_dim, hid_dim)
        self.softmax = nn.Softmax(dim=1)       # over the sentence
        self.dropout = nn.Dropout(dropout)

    def split(self, t):
        return t.unflatten(-1, (self.n_heads, self.head_dim)).transpose(1, 2)

    def forward(self, query, key, value):
        Q = self.split(self.fc_q(query))
        K = self.split(self.fc_k(key))
        V = self.split(self.fc_v(value))
        energy = torch.matmul(Q, K.mT) / self.head_dim ** 0.5
        attention = self.softmax(energy)
        x = torch.matmul(self.dropout(attention), V).transpose(1, 2)
        return self.fc_o(x.flatten(2)), attention
