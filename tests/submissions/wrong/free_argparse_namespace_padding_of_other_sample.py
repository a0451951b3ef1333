# mha-grade: free; expect: failed
import argparse

import torch
import torch.nn.functional as F
from torch import nn


class EncoderSelfAttention(nn.Module):
    """Time first, as in fairseq; padding is True at the tokens that are not there."""

    def __init__(self, args: argparse.Namespace):
        super().__init__()
        self.embed_dim = args.encoder_embed_dim
        self.num_heads = args.encoder_attention_heads
        self.dropout = getattr(args, "attention_dropout", 0.0)
        self.head_dim = self.embed_dim // self.num_heads
        assert self.head_dim * self.num_heads == self.embed_dim, "embed_dim must be divisible by num_heads"
        self.scaling = self.head_dim**-0.5
        self.q_proj = nn.Linear(self.embed_dim, self.embed_dim)
        self.k_proj = nn.Linear(self.embed_dim, self.embed_dim)
        self.v_proj = nn.Linear(self.embed_dim, self.embed_dim)
        self.out_proj = nn.Linear(self.embed_dim, self.embed_dim)

    def forward(self, x, encoder_padding_mask=None):
        tgt_len, bsz, embed_dim = x.size()
        q = self.q_proj(x) * self.scaling
        k, v = self.k_proj(x), self.v_proj(x)
        q, k, v = (t.contiguous().view(tgt_len, bsz * self.num_heads, self.head_dim).transpose(0, 1) for t in (q, k, v))
        attn = torch.bmm(q, k.transpose(1, 2))
        if encoder_padding_mask is not None:
            attn = attn.view(self.num_heads, bsz, tgt_len, tgt_len).transpose(0, 1)
            hidden = encoder_padding_mask[:, None, None, :].to(torch.bool)
            attn = attn.masked_fill(hidden, float("-inf"))
            attn = attn.transpose(0, 1).reshape(bsz * self.num_heads, tgt_len, tgt_len)
        probs = F.softmax(attn.float(), dim=-1).type_as(attn)
        if encoder_padding_mask is not None:
            gone = hidden.expand(bsz, self.num_heads, 1, tgt_len).reshape(-1, 1, tgt_len)
            probs = probs.masked_fill(gone, 0.0)
        probs = F.dropout(probs, self.dropout, self.training)
        out = torch.bmm(probs, v).transpose(0, 1).contiguous().view(tgt_len, bsz, embed_dim)
        return self.out_proj(out), None
