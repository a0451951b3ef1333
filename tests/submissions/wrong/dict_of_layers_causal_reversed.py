# mha-grade: causal-self-attention; expect: failed; in: causal-mask; mistake: causal-reversed; line: 32
import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if not (d_model / num_heads).is_integer():
            raise ValueError("uneven heads")
        self.layers = nn.ModuleDict(
            {letter: nn.Linear(d_model, d_model, bias=letter == "O") for letter in "QKVO"}
        )
        self.num_heads = num_heads
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, padding_mask=None):
        Q, K, V = (
            self.layers[letter](x).tensor_split(self.num_heads, dim=2) for letter in "QKV"
        )
        contexts, maps = [], []
        visible = self.make_mask(x, padding_mask)
        for q, k, v in zip(Q, K, V):
            map_ = self.attend(q, k, visible)
            contexts.append(self.dropout(map_) @ v)
            maps.append(map_)
        return self.layers["O"](torch.cat(contexts, dim=2)), torch.stack(maps, dim=1)

    @staticmethod
    def make_mask(x, padding_mask):
        L = x.size(1)
        visible = x.new_ones(L, L, dtype=torch.bool).triu().unsqueeze(0)
        if padding_mask is not None:
            visible = visible.logical_and(padding_mask.unsqueeze(1))
        return visible

    @staticmethod
    def attend(q, k, visible):
        scores = (q @ k.transpose(1, 2)).div(k.size(2) ** 0.5)
        scores = scores.where(visible, torch.finfo(scores.dtype).min)
        return scores.softmax(2).where(visible, 0)
