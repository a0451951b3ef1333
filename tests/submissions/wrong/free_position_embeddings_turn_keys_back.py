# mha-grade: free; expect: failed; in: scaling; mistake: rotary-uneven; line: 13
import torch
from torch import nn


def rotate_half(x):
    half = x.shape[-1] // 2
    return torch.cat((-x[..., half:], x[..., :half]), dim=-1)


def apply_rotary_pos_emb(q, k, cos, sin, unsqueeze_dim=1):
    cos, sin = cos.unsqueeze(unsqueeze_dim), sin.unsqueeze(unsqueeze_dim)
    return q * cos + rotate_half(q) * sin, k * cos - rotate_half(k) * sin


def repeat_kv(x, n_rep):
    b, kv_heads, length, head_dim = x.shape
    return x[:, :, None].expand(b, kv_heads, n_rep, length, head_dim).reshape(b, kv_heads * n_rep, length, head_dim)


class LlamaLikeConfig:
    def __init__(self, hidden_size=64, num_attention_heads=8, num_key_value_heads=None, attention_dropout=0.0):
        self.hidden_size = hidden_size
        self.num_attention_heads = num_attention_heads
        self.num_key_value_heads = num_key_value_heads or num_attention_heads
        self.attention_dropout = attention_dropout


class LlamaLikeAttention(nn.Module):
    """position_embeddings are (cos, sin), made once for all layers."""

    def __init__(self, config: LlamaLikeConfig, layer_idx: int = 0):
        super().__init__()
        self.head_dim = config.hidden_size // config.num_attention_heads
        if self.head_dim * config.num_attention_heads != config.hidden_size:
            raise ValueError("hidden_size must be divisible by num_attention_heads")
        self.groups = config.num_attention_heads // config.num_key_value_heads
        self.scaling = self.head_dim**-0.5
        self.attention_dropout = config.attention_dropout
        self.q_proj = nn.Linear(config.hidden_size, config.num_attention_heads * self.head_dim, bias=False)
        self.k_proj = nn.Linear(config.hidden_size, config.num_key_value_heads * self.head_dim, bias=False)
        self.v_proj = nn.Linear(config.hidden_size, config.num_key_value_heads * self.head_dim, bias=False)
        self.o_proj = nn.Linear(config.num_attention_heads * self.head_dim, config.hidden_size, bias=False)

    def forward(self, hidden_states, position_embeddings: tuple, attention_mask=None, past_key_value=None):
        shape = (*hidden_states.shape[:-1], -1, self.head_dim)
        q = self.q_proj(hidden_states).view(shape).transpose(1, 2)
        k = self.k_proj(hidden_states).view(shape).transpose(1, 2)
        v = self.v_proj(hidden_states).view(shape).transpose(1, 2)
        cos, sin = position_embeddings
        q, k = apply_rotary_pos_emb(q, k, cos, sin)
        k, v = repeat_kv(k, self.groups), repeat_kv(v, self.groups)
        scores = torch.matmul(q, k.transpose(2, 3)) * self.scaling
        if attention_mask is not None:
            scores = scores.masked_fill(~attention_mask[..., : k.shape[-2]], float("-inf"))
        weights = nn.functional.softmax(scores, dim=-1, dtype=torch.promote_types(scores.dtype, torch.float32))
        weights = torch.nan_to_num(weights).to(q.dtype)
        weights = nn.functional.dropout(weights, self.attention_dropout, self.training)
        out = torch.matmul(weights, v).transpose(1, 2).reshape(*hidden_states.shape[:-1], -1)
        return self.o_proj(out), weights
