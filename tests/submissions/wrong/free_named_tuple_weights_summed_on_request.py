# mha-grade: free; expect: failed
from typing import NamedTuple, Optional
import torch
from torch import nn, Tensor


class AttentionOutput(NamedTuple):
    output: Tensor
    weights: Optional[Tensor] = None


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim: int, num_heads: int, *, dropout: float = 0.0, bias: bool = True):
        super().__init__()
        if embed_dim % num_heads != 0:
            raise ValueError("embed_dim must be divisible by num_heads")
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.query = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.key = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.value = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.output = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def _shape(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.num_heads, self.head_dim)).movedim(-2, -3)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, *, key_padding_mask: Optional[Tensor] = None,
                attn_mask: Optional[Tensor] = None, need_weights: bool = False, average_weights: bool = True) -> AttentionOutput:
        q, k, v = self._shape(self.query(query)), self._shape(self.key(key)), self._shape(self.value(value))
        scores = torch.matmul(q, k.mT) * self.head_dim**-0.5
        blocked = torch.zeros_like(scores, dtype=torch.bool)
        if attn_mask is not None:
            blocked = blocked | attn_mask
        if key_padding_mask is not None:
            blocked = blocked | key_padding_mask[:, None, None, :]
        scores = scores.masked_fill(blocked, float("-inf"))
        scores = torch.where(blocked.all(-1, keepdim=True), torch.zeros_like(scores), scores)
        weights = scores.softmax(-1).masked_fill(blocked, 0.0)
        out = self.output((self.dropout(weights) @ v).movedim(-3, -2).flatten(-2))
        if not need_weights:
            return AttentionOutput(out)
        return AttentionOutput(out, weights.sum(1) if average_weights else weights)
