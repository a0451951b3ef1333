# mha-grade: causal-self-attention; expect: passed
import torch, math
from torch import nn
class Attn(nn.Module):
    def __init__(s, D, H, p=0.):
        super().__init__()
        assert_ok = D % H == 0
        if not assert_ok: raise ValueError
        s.D, s.H, s.p = D, H, p
        s.mix = nn.Linear(D, 3*D); s.back = nn.Linear(D, D)
    def forward(s, x, padding_mask=None):
        B, L, D = x.shape
        q, k, v = s.mix(x).reshape(B, L, 3, s.H, D//s.H).permute(2, 0, 3, 1, 4)
        keep = torch.ones(L, L, dtype=torch.bool, device=x.device).tril_()[None, None]
        if padding_mask is not None: keep = keep & padding_mask[:, None, None]
        a = (q @ k.mT).div(math.sqrt(D//s.H)).float() if x.dtype in (torch.float16, torch.bfloat16) else q @ k.mT / math.sqrt(D//s.H)
        a = a.masked_fill(keep.logical_not(), -torch.finfo(a.dtype).max).softmax(-1).masked_fill(~keep, 0).to(v.dtype)
        d = torch.nn.functional.dropout(a, s.p, s.training)
        return s.back((d @ v).movedim(1, 2).reshape(B, L, D)), a
