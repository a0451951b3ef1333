# mha-grade: free; expect: failed; in: dropout; mistake: dropout-always-on; line: 25
import torch
from torch import nn
from torch.nn import functional as F


class MultiHeadAttn(nn.Module):
    """In the manner of a Keras layer: call(q, k, v, training)."""

    def __init__(self, model_dim, head_count, rate=0.1):
        super().__init__()
        assert model_dim % head_count == 0
        self.head_count, self.depth, self.rate = head_count, model_dim // head_count, rate
        self.wq = nn.Linear(model_dim, model_dim)
        self.wk = nn.Linear(model_dim, model_dim)
        self.wv = nn.Linear(model_dim, model_dim)
        self.dense = nn.Linear(model_dim, model_dim)

    def split_heads(self, x):
        return x.reshape(x.size(0), -1, self.head_count, self.depth).permute(0, 2, 1, 3)

    def forward(self, q, k, v, training=True):
        q, k, v = self.split_heads(self.wq(q)), self.split_heads(self.wk(k)), self.split_heads(self.wv(v))
        logits = torch.matmul(q, k.transpose(-2, -1)) / self.depth ** 0.5
        weights = F.dropout(F.softmax(logits, dim=-1), self.rate, training=training)
        output = torch.matmul(weights, v).permute(0, 2, 1, 3).flatten(2)
        return self.dense(output), weights
