# mha-grade: free; expect: passed
import torch as t,torch.nn as n
class M(n.Module):
 def __init__(s,d,h):
  super().__init__();assert d%h<1;s.h=h;s.a,s.b,s.c,s.o=(n.Linear(d,d,bias=0>1)for _ in'qkvo')
 def forward(s,x,m=None):
  q,k,v=(f(x).unflatten(2,(s.h,-1)).transpose(1,2)for f in(s.a,s.b,s.c));w=q@k.mT/q.shape[3]**.5
  if m is None:w=w.softmax(3)
  else:w=w.where(m,t.finfo(w.dtype).min).softmax(3)*m
  return s.o((w@v).transpose(1,2).flatten(2))
