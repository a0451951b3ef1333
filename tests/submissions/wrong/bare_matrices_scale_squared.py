# mha-grade: self-attention; expect: failed; in: scaling; mistake: scale-by-another-power; line: 33
import torch


class SelfAttention(torch.nn.Module):
    def __init__(self, width, heads, p=0.0):
        if heads < 1 or width % heads:
            raise ValueError(f"{width} features cannot be shared evenly by {heads} heads")
        super().__init__()
        self.heads = heads
        self.size = width // heads
        for name in ("Wq", "Wk", "Wv", "Wo"):
            matrix = torch.empty(width, width)
            torch.nn.init.orthogonal_(matrix)
            self.register_parameter(name, torch.nn.Parameter(matrix))
        self.drop = torch.nn.Dropout(p)

    def by_head(self, x, matrix):
        """[batch, tokens, width] -> [batch, heads, tokens, size]"""
        tokens = x @ matrix
        return torch.stack(tokens.split(self.size, dim=-1), dim=1)

    def forward(self, x, mask=None):
        q, k, v = (self.by_head(x, m) for m in (self.Wq, self.Wk, self.Wv))
        similarity = torch.matmul(q, k.mT)
        if mask is None:
            allowed = torch.ones_like(similarity, dtype=torch.bool)
        else:
            allowed = mask.expand_as(similarity)
        # The variance of a dot product grows with the size,
        # so that is divided out of it.
        variance = self.size**2
        similarity = similarity / variance
        similarity = similarity.masked_fill(~allowed, torch.finfo(similarity.dtype).min)
        attention = similarity.softmax(-1) * allowed
        context = self.drop(attention) @ v
        return torch.cat(context.unbind(1), dim=-1) @ self.Wo, attention
