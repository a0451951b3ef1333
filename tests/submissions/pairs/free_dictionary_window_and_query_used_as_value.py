# mha-grade: free; expect: failed; in: shapes; mistake: window-imposed, query-used-as-value; line: 29, 35
import torch
import torch.nn as nn

CONFIG = {
    "vocab_size": 1000,
    "context_length": 64,
    "emb_dim": 96,
    "n_heads": 6,
    "drop_rate": 0.1,
    "qkv_bias": False,
}


class MultiHeadSelfAttention(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        width, heads = cfg["emb_dim"], cfg["n_heads"]
        if width % heads != 0:
            raise ValueError(f"emb_dim {width} cannot be shared among {heads} heads")
        self.heads = heads
        self.q = nn.Linear(width, width, bias=cfg["qkv_bias"])
        self.k = nn.Linear(width, width, bias=cfg["qkv_bias"])
        self.v = nn.Linear(width, width, bias=cfg["qkv_bias"])
        self.out = nn.Linear(width, width)
        self.drop = nn.Dropout(cfg["drop_rate"])
        n = cfg["context_length"]
        full = torch.ones(n, n)
        self.register_buffer("future", (full.triu(1) + full.tril(-2)).bool(), persistent=False)

    def forward(self, x):
        batch, tokens, width = x.shape
        q = self.q(x).view(batch, tokens, self.heads, -1).transpose(1, 2)
        k = self.k(x).view(batch, tokens, self.heads, -1).transpose(1, 2)
        v = self.q(x).view(batch, tokens, self.heads, -1).transpose(1, 2)
        scores = torch.einsum("bhid,bhjd->bhij", q, k) / k.shape[-1] ** 0.5
        scores = scores.masked_fill(self.future[:tokens, :tokens], float("-inf"))
        ctx = torch.einsum("bhij,bhjd->bihd", self.drop(scores.softmax(-1)), v)
        return self.out(ctx.reshape(batch, tokens, width))
