# mha-grade: free; expect: passed
import torch
import torch.nn as nn
import torch.nn.init as init


class Multi_Head_Attention(nn.Module):
    '''
        x:   [batch_size, seq_len, dim_model]
        out: [batch_size, seq_len, dim_model]
    '''
    def __init__(self, dim_model, num_head, dropout=0.0):
        super(Multi_Head_Attention, self).__init__()
        self.num_head = num_head
        assert dim_model % num_head == 0
        self.dim_head = dim_model // self.num_head
        self.fc_Q = nn.Linear(dim_model, num_head * self.dim_head)
        self.fc_K = nn.Linear(dim_model, num_head * self.dim_head)
        self.fc_V = nn.Linear(dim_model, num_head * self.dim_head)
        self.fc = nn.Linear(num_head * self.dim_head, dim_model)
        self.dropout = nn.Dropout(dropout)
        self.layer_norm = nn.LayerNorm(dim_model)
        for fc in (self.fc_Q, self.fc_K, self.fc_V, self.fc):
            init.xavier_normal_(fc.weight)

    def forward(self, x):
        batch_size = x.size(0)
        Q, K, V = self.fc_Q(x), self.fc_K(x), self.fc_V(x)
        # heads lie along the batch: all samples of head 0, then all of head 1, ...
        Q = torch.cat(Q.chunk(self.num_head, dim=2), dim=0)
        K = torch.cat(K.chunk(self.num_head, dim=2), dim=0)
        V = torch.cat(V.chunk(self.num_head, dim=2), dim=0)
        attention = torch.bmm(Q, K.permute(0, 2, 1)) * K.size(-1) ** -0.5
        attention = self.dropout(torch.softmax(attention, dim=-1))
        context = torch.bmm(attention, V)
        context = torch.cat(context.split(batch_size, dim=0), dim=2)
        out = self.dropout(self.fc(context))
        out = out + x
        out = self.layer_norm(out)
        return out
