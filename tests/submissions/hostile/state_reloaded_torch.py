# hostile: state; expect: refused; says: spec not found for the module 'torch.nn.functional'
import importlib

import torch

importlib.reload(torch.nn.functional)
