# mha-grade: free; expect: failed; in: scaling; mistake: softmax-over-queries; line: 20
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, args):
        super().__init__()
        if args.hidden % args.heads:
            raise ValueError('heads must divide hidden')
        self.heads = args.heads
        self.to_qkv = nn.Linear(args.hidden, args.hidden * 3, bias=False)
        self.to_out = nn.Linear(args.hidden, args.hidden)
        self.drop = nn.Dropout(args.drop)

    def forward(self, x):
        k, q, v = self.to_qkv(x).chunk(3, dim=-1)
        k, q, v = [t.unflatten(2, (self.heads, -1)).transpose(1, 2) for t in (k, q, v)]
        logits = q @ k.transpose(2, 3) * k.size(-1) ** -0.5
        attn = self.drop(nn.functional.softmax(logits, dim=2))
        return self.to_out((attn @ v).transpose(1, 2).flatten(2)), attn
