# mha-grade: free; expect: passed
import torch
import torch.nn as nn

# learning attention: print every shape on the way


class MultiHeadAttention(nn.Module):
    def __init__(self, input_dim, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.input_dim = input_dim
        self.d_model = d_model
        self.num_heads = num_heads
        self.head_dim = d_model // num_heads
        self.qkv_layer = nn.Linear(input_dim, 3 * d_model)
        self.linear_layer = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        batch_size, sequence_length, input_dim = x.size()
        print(f"x.size(): {x.size()}")
        qkv = self.qkv_layer(x)
        print(f"qkv.size(): {qkv.size()}")
        qkv = qkv.reshape(batch_size, sequence_length, self.num_heads, 3 * self.head_dim)
        qkv = qkv.permute(0, 2, 1, 3)
        q, k, v = qkv.chunk(3, dim=-1)
        print(f"q: {q.size()}, k: {k.size()}, v: {v.size()}")
        scaled = q @ k.transpose(-1, -2) / self.head_dim ** 0.5
        if mask is not None:
            # mask holds 0 and -inf, (seq, seq); rows without a single 0 come out as zeros
            print("-- ADDING MASK of", mask.size())
            open_row = (mask == 0).any(dim=-1, keepdim=True)
            attention = torch.softmax(scaled + torch.where(open_row, mask, 0.), dim=-1) * open_row
        else:
            attention = torch.softmax(scaled, dim=-1)
        values = attention @ v
        values = values.permute(0, 2, 1, 3).reshape(batch_size, sequence_length, self.d_model)
        out = self.linear_layer(values)
        print(f"out.size(): {out.size()}")
        return out
