# mha-grade: free; expect: passed
import torch as t
from torch import nn as N


class Linear(N.Module):
    def __init__(self, i, o):
        super().__init__()
        self.W = N.Parameter(t.randn(i, o) / i ** .5)
        self.b = N.Parameter(t.zeros(o))

    def forward(self, x):
        return x @ self.W + self.b


class 多头注意力(N.Module):
    """输入 [批, 长, 宽]；遮挡为 True 的键不可见"""

    def __init__(self, 宽度, 头数):
        super().__init__()
        assert 宽度 % 头数 == 0, "宽度必须能被头数整除"
        self.头数 = 头数
        self.查询 = Linear(宽度, 宽度)
        self.键 = Linear(宽度, 宽度)
        self.值 = Linear(宽度, 宽度)
        self.输出 = Linear(宽度, 宽度)

    def 分头(self, x):
        批, 长, 宽 = x.shape
        return x.reshape(批, 长, self.头数, 宽 // self.头数).swapaxes(1, 2)

    def forward(self, x, 遮挡=None):
        q, k, v = self.分头(self.查询(x)), self.分头(self.键(x)), self.分头(self.值(x))
        分数 = t.matmul(q, k.swapaxes(2, 3)) / k.shape[3] ** .5
        if 遮挡 is not None:
            分数 = 分数.masked_fill(遮挡, -t.inf)
            活 = ~遮挡.all(-1, keepdim=True)
            分数 = t.where(活, 分数, t.zeros_like(分数))
        w = t.softmax(分数, 3)
        if 遮挡 is not None:
            w = w * 活
        o = (w @ v).swapaxes(1, 2).reshape(x.shape)
        return self.输出(o)
