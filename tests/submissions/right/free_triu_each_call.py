# mha-grade: free; expect: passed
import torch
import torch.nn as nn


class MaskedMultiHeadAttention(nn.Module):
    def __init__(self, num_heads, embedding_dim, attention_dropout=0.0, output_dropout=0.0):
        super().__init__()
        if embedding_dim % num_heads != 0:
            raise ValueError("embedding_dim must be a multiple of num_heads")
        self.num_heads = num_heads
        self.Q = nn.Linear(embedding_dim, embedding_dim, bias=False)
        self.K = nn.Linear(embedding_dim, embedding_dim, bias=False)
        self.V = nn.Linear(embedding_dim, embedding_dim, bias=False)
        self.O = nn.Linear(embedding_dim, embedding_dim, bias=False)
        self.attention_dropout = nn.Dropout(attention_dropout)
        self.output_dropout = nn.Dropout(output_dropout)

    def forward(self, embeddings):
        batch, words, dim = embeddings.shape
        size = dim // self.num_heads
        per_head = (batch, words, self.num_heads, size)
        q = self.Q(embeddings).reshape(per_head).movedim(2, 1)
        k = self.K(embeddings).reshape(per_head).movedim(2, 1)
        v = self.V(embeddings).reshape(per_head).movedim(2, 1)
        logits = (q @ k.movedim(2, 3)) / size ** 0.5
        no_peeking = torch.triu(torch.full((words, words), -torch.inf, dtype=logits.dtype, device=logits.device), 1)
        attention = self.attention_dropout(torch.softmax(logits + no_peeking, dim=-1))
        z = (attention @ v).movedim(1, 2).reshape(batch, words, dim)
        return self.output_dropout(self.O(z))
