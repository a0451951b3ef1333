"""Which forward would fail on a GPU for a plain tensor left on the CPU, as torch's "meta" says."""

import pytest
import torch
from torch import nn

from grader.worker import describe
from grader.worker.apart import SAID, Apart

# What forward does with the plain tensor self.t of shape [3] and x of shape [2, 3] -> does it fail.
USES = {
    "x + self.t": True,
    "x / self.t": True,
    "x * self.t.sqrt()": True,
    "x * (self.t * 2 + 1)": True,
    "torch.where(self.t > 0, x, 0)": True,
    "x.masked_fill(self.t == 0, 0.0)": True,
    "torch.cat([x, self.t.view(1, 3)])": True,
    "torch.stack([self.t, x[0]])": True,
    "x @ self.t": True,
    "nn.functional.linear(x, self.t.view(1, 3))": True,
    "self.layer(x) + self.t": True,
    "self.layer(self.t)": True,
    "x.add_(self.t)": True,
    "self.t[x.argmax(-1)]": True,
    "x + self.t.clone().detach()": True,
    "x + self.kept[0]": True,
    "x + self.t.to(torch.float32)": True,
    "x + self.t.float()": True,
    "x + self.t.expand(2, 3)[:1]": True,
    "x + self.t.split(3)[0]": True,
    # Taken along, or of no consequence.
    "x + self.t.to(x.device)": False,
    "x + self.t.to(x)": False,
    "x + self.t.type_as(x)": False,
    "x + self.t.to(device=x.device, dtype=x.dtype)": False,
    "x + torch.zeros(3, device=x.device)": False,
    "x + x.new_ones(3)": False,
    "x + self.t.tolist()[0]": False,
    "x + len(self.t)": False,
    "x + self.t[0]": False,
    "x / self.t.sum()": False,
    "x[:, self.t.long() % 3]": False,
    "x + self.registered": False,
    "self.layer(x)": False,
    "(x + self.t) if self.t.device == x.device else x": False,
    "x + self.t.to(str(x.device))": False,
    "x + self.t.to(device=x.device.type)": False,
    "x + self.t.to(torch.device(x.device.type, x.device.index))": False,
    "x + torch.zeros(3, device=str(x.device))": False,
    "x + self.t.view(1, 3).expand_as(x).to(x.device)": False,
    "x + torch.broadcast_tensors(self.t, x)[0].to(x)": False,
    "x + x.new_tensor(self.t.tolist())": False,
    "x + torch.zeros_like(x[0] * 2).copy_(self.t)": False,
    "x + torch.zeros_like(self.t, device=x.device)": False,
    "nn.Linear(3, 3).to(x.device)(x)": False,
    "torch.vmap(lambda row: self.layer(row) + self.t.to(row.device))(x)": False,
    "assigned(self, x.device) + x": False,
    "without_autocast(x) + self.t.to(x)": False,
    # Made by forward, without a device.
    "x.masked_fill(torch.ones(2, 3).triu(1) == 0, 0.0)": True,
    "x + torch.full((3,), 1.0)": True,
    "x * (torch.arange(3) < 2)": True,
    "x + torch.tensor([1.0, 2.0, 3.0])": True,
    "x @ torch.eye(3)": True,
    "x + torch.zeros(3).to(torch.float32)": True,
    "x[:, torch.arange(3)]": False,
    "x / torch.sqrt(torch.tensor(3.0))": False,
    "x + torch.ones(3).type_as(x)": False,
    "x + torch.arange(3, device=x.device)": False,
    "x + torch.ones(3).sum()": False,
    "x + len(torch.arange(3))": False,
    "x + torch.ones(2, 3).tolist()[0][0]": False,
    # Moved and thrown away: what is left behind is as it was.
    "(self.t.to(x.device), x + self.t)[1]": True,
}
# Of these the stand-in for a GPU that torch has, which is none, knows nothing.
ON_A_GPU = {
    "x + (self.t.cuda() if x.is_cuda else self.t)": False,
    "x + (self.t.cuda() if x.device.type == 'cuda' else self.t)": False,
    "x + self.t.to('cuda' if x.is_cuda else 'cpu')": False,
    "x + self.t.to(x.get_device() if x.is_cuda else 'cpu')": False,
    "x + (self.t if self.t.is_cpu == x.is_cpu else self.t.to(x.device))": False,
    "x + x.new_tensor(self.t)": False,
    "x + (self.t if x.is_cuda else self.t.cuda())": True,
    "x + self.t.cuda().cpu()": True,
    "x + x.cpu()": True,
}
# Of the device that a file was told, and that a GPU's owner tells it otherwise.
TOLD = {
    "x + torch.ones(3, device='cpu')": False,
    "x + torch.ones(3).to('cpu')": False,
    "x + torch.ones(3).to(torch.device('cpu'))": False,
    "x + self.t.to('cpu')": False,
    "x + x.to('cpu')": True,
}
# Of tensors that the class or the file holds, which are looked for where no other is left.
HELD = {
    "x + Module.shared": True,
    "x + OUTSIDE": True,
    "x + Module.shared.to(x.device)": False,
    "x + OUTSIDE.to(x)": False,
}
# Refused on a GPU, and not by torch's stand-in for one.
LET_PASS = (
    "nn.functional.linear(x, self.t.view(1, 3))",
    "x.add_(self.t)",
    "self.t[x.argmax(-1)]",
    "x @ torch.eye(3)",
)


def assigned(module, device):
    module.t.data = module.t.data.to(device)
    return module.t


def without_autocast(x):
    with torch.autocast(x.device.type, enabled=False):
        return x * 2


OUTSIDE = torch.ones(3)


class Module(nn.Module):
    shared = torch.ones(3)

    def __init__(self, use):
        super().__init__()
        self.t = torch.arange(3.0)
        self.kept = [torch.ones(3)]
        self.layer = nn.Linear(3, 3)
        self.register_buffer("registered", torch.ones(3))
        self.use = eval(f"lambda self, x: {use}")  # each of the uses above

    def forward(self, x):
        return self.use(self, x)


def fails_apart(module, left=("t", "kept[0]"), made=True):
    mode = Apart(*describe.part(module, left), made=made)
    x = torch.randn(2, 3)
    mode.begin([x])
    try:
        with mode, torch.no_grad():
            module(x)
    except RuntimeError as error:
        return str(error)
    return None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("use", [*USES, *ON_A_GPU, *TOLD])
def test_forward_fails_where_two_devices_meet(use):
    assert fails_apart(Module(use)) == (SAID if (USES | ON_A_GPU | TOLD)[use] else None)


@pytest.mark.parametrize("use", HELD)
def test_tensors_of_the_class_and_the_file_stay_behind(use):
    assert fails_apart(Module(use), left=()) == (SAID if HELD[use] else None)
    assert fails_apart(Module(use)) is None


def test_what_forward_makes_is_followed_on_request():
    use = "x + torch.full((3,), 1.0)"
    assert fails_apart(Module(use)) == SAID
    assert fails_apart(Module(use), made=False) is None


@pytest.mark.every
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("use", [use for use in USES if use not in LET_PASS])
def test_so_does_it_on_the_device_that_torch_has_for_it(use):
    module = Module(use).to("meta")
    try:
        with torch.no_grad():
            module(torch.randn(2, 3).to("meta"))
        failed = False
    except (RuntimeError, ValueError) as error:
        failed = "device" in str(error)
    assert failed == USES[use]


def test_what_moves_itself_along_is_not_left_behind():
    class Careful(Module):
        def _apply(self, fn, recurse=True):
            super()._apply(fn, recurse)
            self.t, self.kept = fn(self.t), [fn(t) for t in self.kept]
            return self

    assert describe.stray(Module("x").to("meta")) == ["kept[0]", "t"]
    assert describe.stray(Careful("x").to("meta")) == []


def test_parameter_that_is_kept_in_a_list_too_moves_with_its_module():
    # To "meta" a parameter is made anew; to a real device it goes in place.
    module = nn.Linear(2, 2)
    module.all, module.tables = list(module.parameters()), [torch.zeros(2)]
    registered = list(module.parameters())
    assert describe.stray(module.to("meta"), registered) == ["tables[0]"]
