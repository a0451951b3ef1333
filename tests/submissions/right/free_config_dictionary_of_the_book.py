# mha-grade: free; expect: passed
import torch
import torch.nn as nn

GPT_CONFIG = {
    "vocab_size": 50257,
    "context_length": 256,
    "emb_dim": 768,
    "n_heads": 12,
    "n_layers": 12,
    "drop_rate": 0.1,
    "qkv_bias": False,
}


class CausalAttention(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        if cfg["emb_dim"] % cfg["n_heads"]:
            raise ValueError("emb_dim must be divisible by n_heads")
        self.heads = cfg["n_heads"]
        self.qkv = nn.Linear(cfg["emb_dim"], 3 * cfg["emb_dim"], bias=cfg["qkv_bias"])
        self.out = nn.Linear(cfg["emb_dim"], cfg["emb_dim"])
        self.drop = nn.Dropout(cfg["drop_rate"])
        lower = torch.tril(torch.ones(cfg["context_length"], cfg["context_length"], dtype=torch.bool))
        self.register_buffer("lower", lower, persistent=False)

    def forward(self, x):
        n = x.shape[1]
        q, k, v = self.qkv(x).view(*x.shape[:2], 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        raw = torch.where(self.lower[:n, :n], q @ k.transpose(2, 3), -torch.inf)
        w = self.drop(torch.softmax(raw * q.shape[-1] ** -0.5, dim=-1))
        return self.out((w @ v).transpose(1, 2).flatten(2))
