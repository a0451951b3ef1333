# mha-grade: free; expect: failed; in: shapes, scaling; mistake: first-head-shared, scale-by-head-dim; line: 25, 25
import torch
import torch.nn as nn


class RelMultiHeadAttn(nn.Module):
    """h: [len, batch, model]; attn_mask: [len, len], 1 where nothing may pass."""

    def __init__(self, n_head, d_model, d_head, dropout, dropatt=0.0, pre_lnorm=True):
        super().__init__()
        self.n_head, self.d_head = n_head, d_head
        self.q_net = nn.Linear(d_model, n_head * d_head, bias=False)
        self.kv_net = nn.Linear(d_model, 2 * n_head * d_head, bias=False)
        self.o_net = nn.Linear(n_head * d_head, d_model, bias=False)
        self.drop = nn.Dropout(dropout)
        self.dropatt = nn.Dropout(dropatt)
        self.layer_norm = nn.LayerNorm(d_model)
        self.scale = 1 / d_head
        self.pre_lnorm = pre_lnorm

    def forward(self, h, attn_mask=None):
        c = self.layer_norm(h) if self.pre_lnorm else h
        head_q = self.q_net(c).view(*h.shape[:2], self.n_head, self.d_head)
        head_k, head_v = self.kv_net(c).view(*h.shape[:2], 2, self.n_head, self.d_head).unbind(2)
        score = torch.einsum('ibnd,jbd->bnij', head_q, head_k[:, :, 0]) * self.scale
        if attn_mask is not None:
            stop = attn_mask.bool()
            score = score.masked_fill(stop, torch.finfo(score.dtype).min)
            prob = score.softmax(dim=-1).masked_fill(stop, 0)
        else:
            prob = score.softmax(dim=-1)
        vec = torch.einsum('bnij,jbnd->ibnd', self.dropatt(prob), head_v).flatten(2)
        out = h + self.drop(self.o_net(vec))
        return out if self.pre_lnorm else self.layer_norm(out)
