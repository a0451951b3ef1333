# mha-grade: free; expect: failed; in: shapes; mistake: batch-squeezed; line: 20
import torch
from torch import nn


class MHSA(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        assert cfg["hidden_dim"] % cfg["num_heads"] == 0
        self.h = cfg["num_heads"]
        self.proj_in = nn.Linear(cfg["hidden_dim"], 3 * cfg["hidden_dim"])
        self.proj_out = nn.Linear(cfg["hidden_dim"], cfg["hidden_dim"])
        self.drop = nn.Dropout(cfg["dropout"])

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.proj_in(x).view(b, n, 3, self.h, d // self.h).permute(2, 0, 3, 1, 4)
        w = torch.softmax(q @ k.transpose(2, 3) / (d // self.h) ** 0.5, dim=-1)
        y = (self.drop(w) @ v).transpose(1, 2).reshape(b, n, d)
        return self.proj_out(y).squeeze(0)
