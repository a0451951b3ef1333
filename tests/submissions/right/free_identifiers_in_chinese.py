# mha-grade: free; expect: passed
import math

import torch
from torch import nn


class 多头注意力(nn.Module):
    """多头自注意力。掩码为 bool，真表示可见。"""

    def __init__(self, 维度, 头数):
        super().__init__()
        if 维度 % 头数 != 0:
            raise ValueError("维度必须能被头数整除")
        self.头数 = 头数
        self.每头维度 = 维度 // 头数
        self.查询 = nn.Linear(维度, 维度)
        self.键 = nn.Linear(维度, 维度)
        self.值 = nn.Linear(维度, 维度)
        self.输出 = nn.Linear(维度, 维度)

    def 拆分(self, 张量):
        批, 长, _ = 张量.shape
        return 张量.view(批, 长, self.头数, self.每头维度).transpose(1, 2)

    def forward(self, 输入, 掩码=None):
        q, k, v = self.拆分(self.查询(输入)), self.拆分(self.键(输入)), self.拆分(self.值(输入))
        分数 = q @ k.transpose(-1, -2) / math.sqrt(self.每头维度)
        if 掩码 is not None:
            分数 = 分数.masked_fill(~掩码, float("-inf"))
        权重 = 分数.softmax(-1)
        if 掩码 is not None:
            权重 = 权重.masked_fill(~掩码, 0.0)  # 全被遮住的行
        上下文 = (权重 @ v).transpose(1, 2).reshape(输入.shape)
        return self.输出(上下文), 权重
