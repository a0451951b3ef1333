# mha-grade: free; expect: passed
import torch
from torch import nn


class MHSA(nn.Module):
    def __init__(self, hidden_size=64, num_heads=4):
        super().__init__()
        assert hidden_size % num_heads == 0, "hidden_size % num_heads"
        self.num_heads = num_heads
        self.q = nn.Linear(hidden_size, hidden_size)
        self.k = nn.Linear(hidden_size, hidden_size)
        self.v = nn.Linear(hidden_size, hidden_size)
        self.o = nn.Linear(hidden_size, hidden_size)

    def forward(self, hidden_state, attention_mask):
        # attention_mask: (batch, seq), 1 = token, 0 = padding, as a tokenizer returns it
        b, s, d = hidden_state.size()
        split = lambda t: t.view(b, s, self.num_heads, d // self.num_heads).transpose(1, 2)
        query, key, value = split(self.q(hidden_state)), split(self.k(hidden_state)), split(self.v(hidden_state))
        score = query @ key.transpose(-1, -2) / torch.tensor(d // self.num_heads, dtype=query.dtype).sqrt()
        gone = attention_mask.view(b, 1, 1, s) == 0
        probs = score.masked_fill(gone, torch.finfo(score.dtype).min).softmax(dim=-1).masked_fill(gone, 0)
        return self.o((probs @ value).transpose(1, 2).contiguous().view(b, s, d))


if __name__ == "__main__":
    layer = MHSA(64, 4)
    x = torch.randn(2, 10, 64)
    attention_mask = torch.ones(2, 10)
    attention_mask[1, 6:] = 0
    y = layer(x, attention_mask)
    print("input ", x.shape)
    print("output", y.shape)
    assert y.shape == x.shape
