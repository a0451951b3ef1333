# mha-grade: self-attention; expect: failed; in: all-masked-rows; mistake: uniform-dead-rows; line: 19
import torch
class Head(torch.nn.Module):
    def __init__(self, d, dh):
        super().__init__(); self.q, self.k, self.v = (torch.nn.Linear(d, dh, bias=False) for _ in "qkv")
class MHA(torch.nn.Module):
    def __init__(self, d, h, dropout=0.0):
        super().__init__()
        q, r = divmod(d, h)
        if r: raise ValueError((d, h))
        self.hs = torch.nn.ModuleList(Head(d, q) for _ in range(h)); self.o = torch.nn.Linear(d, d)
        self.dr = torch.nn.Dropout(dropout)
    def forward(self, x, mask=None):
        outs, ws = [], []
        m = None if mask is None else mask.expand(x.shape[0], len(self.hs), x.shape[1], x.shape[1])
        for i, h in enumerate(self.hs):
            s = h.q(x) @ h.k(x).transpose(1, 2) / h.q.out_features ** .5
            if m is not None: s = s.masked_fill(~m[:, i], torch.finfo(s.dtype).min)
            w = s.softmax(2)
            if m is not None: pass
            ws.append(w); outs.append(self.dr(w) @ h.v(x))
        return self.o(torch.cat(outs, -1)), torch.stack(ws, 1)
