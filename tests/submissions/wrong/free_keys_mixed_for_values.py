# mha-grade: free; expect: failed; in: scaling; mistake: key-used-as-value; line: 25
# cross attention, decoder style; memory first, returns a dict
import torch as th


class _Base(th.nn.Module):
    def setup(self, dim, nheads):
        if dim % nheads:
            raise RuntimeError("dim % nheads")
        self.nheads = nheads
        for n in ("Q", "K", "V", "O"):
            setattr(self, n, th.nn.Parameter(th.randn(dim, dim) / dim**0.5))


class DecoderCross(_Base):
    def __init__(self, nheads, dim):
        super().__init__()
        self.setup(dim, nheads)

    def forward(self, memory, target, hidden_mask=None):
        """hidden_mask: (B, S) bool, True where the memory is padding."""
        def cut(x, w):
            y = x @ w
            return y.view(*y.shape[:2], self.nheads, -1).permute(0, 2, 1, 3)
        q, k, v = cut(target, self.Q), cut(memory, self.K), cut(memory, self.K)
        logit = q @ k.transpose(2, 3) / q.shape[-1] ** 0.5
        if hidden_mask is not None:
            m = hidden_mask[:, None, None]
            logit = logit.masked_fill(m, th.finfo(logit.dtype).min)
        att = th.softmax(logit, -1)
        if hidden_mask is not None:
            att = att * (~m).to(att.dtype)
        ctx = (att @ v).permute(0, 2, 1, 3).flatten(2)
        return {"attention": att, "output": ctx @ self.O}
