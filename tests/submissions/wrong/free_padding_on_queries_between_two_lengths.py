# mha-grade: free; expect: failed; in: padding-mask; mistake: padding-on-query-axis; line: 48
from typing import Optional

import torch
from torch import Tensor, nn


class MultiHeadAttentionMap(nn.Module):
    """Sequence-first attention that takes positions beside the content, as detection models do."""

    def __init__(self, d_model: int, nhead: int, dropout: float = 0.1):
        super().__init__()
        if d_model % nhead != 0:
            raise ValueError(f"d_model {d_model} is not a multiple of nhead {nhead}")
        self.nhead = nhead
        self.dropout = nn.Dropout(dropout)
        self.q_linear = nn.Linear(d_model, d_model)
        self.k_linear = nn.Linear(d_model, d_model)
        self.v_linear = nn.Linear(d_model, d_model)
        self.out = nn.Linear(d_model, d_model)
        self.norm_fact = (float(d_model) / nhead) ** -0.5
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.xavier_uniform_(p)

    @staticmethod
    def with_pos_embed(tensor: Tensor, pos: Optional[Tensor]):
        return tensor if pos is None else tensor + pos

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        memory_key_padding_mask: Optional[Tensor] = None,
        pos: Optional[Tensor] = None,
        query_pos: Optional[Tensor] = None,
    ):
        q = self.q_linear(self.with_pos_embed(tgt, query_pos))
        k = self.k_linear(self.with_pos_embed(memory, pos))
        v = self.v_linear(memory)
        lq, b, d = q.shape
        lk = k.shape[0]
        q = q.reshape(lq, b, self.nhead, d // self.nhead)
        k = k.reshape(lk, b, self.nhead, d // self.nhead)
        v = v.reshape(lk, b, self.nhead, d // self.nhead)
        weights = torch.einsum("qbnc,kbnc->bnqk", q * self.norm_fact, k)
        if memory_key_padding_mask is not None:
            weights = weights.masked_fill(memory_key_padding_mask[:, None, :, None], float("-inf"))
            weights = torch.softmax(weights, dim=-1)
        else:
            weights = torch.softmax(weights, dim=-1)
        weights = self.dropout(weights)
        out = torch.einsum("bnqk,kbnc->qbnc", weights, v).flatten(2)
        return self.out(out)
