"""What cases show that is not about values: a few lines of torch for each check.

`attend(module, call)` makes a call and gives the output; `first` is the arguments of the first
call, `calls` those of all. The lines set `wrong`.
"""

from __future__ import annotations

SPOIL = (
    "with torch.no_grad():",
    "    for parameter in module.parameters():",
    "        parameter.mul_(-0.5)",
)
AVERAGE = (
    "torch.manual_seed(0)",
    "with torch.no_grad():",
    "    plain = attend(module, first)",
    "    module.train()",
    "    many = torch.stack([attend(module, first) for _ in range(4000)])",
    "# In standard errors of the mean: six are no chance.",
    "off = (many.mean(0) - plain).abs() / (many.std(0) / len(many) ** 0.5 + 1e-9)",
)
BEHAVIOURS: dict[str, tuple[str, ...]] = {
    "leaves_inputs_unchanged": (
        "kept = [x.clone() if torch.is_tensor(x) else x for x in first]",
        "attend(module, first)",
        "same = [torch.equal(a, b) for a, b in zip(kept, first) if torch.is_tensor(a)]",
        "wrong = not all(same)",
    ),
    "repeats_in_eval": ("wrong = not torch.equal(attend(module, first), attend(module, first))",),
    "is_on_in_training": (
        "module.train()",
        "wrong = torch.equal(attend(module, first), attend(module, first))",
    ),
    "scales_inversely": (*AVERAGE, "wrong = not off.max().item() < 6"),
    # A free file's dropout, whose place is open, is judged by its mean alone.
    "averages_to_eval": (
        *AVERAGE,
        "wrong = not off.max().item() < 6 or torch.equal(many[0], many[1])",
    ),
    "survives_training": (
        "before = attend(module, first)",
        "for _ in range(2):",
        "    module.train()",
        "    attend(module, first)",
        "    module.eval()",
        "wrong = not torch.equal(attend(module, first), before)",
    ),
    "survives_deepcopy": (
        "import copy",
        "",
        "with torch.no_grad():",
        "    before = attend(module, first)",
        "twin = copy.deepcopy(module)",
        *SPOIL,
        "wrong = not torch.allclose(attend(twin, first), before)",
    ),
    "survives_pickling": (
        "import io",
        "",
        "before = attend(module, first)",
        "kept = io.BytesIO()",
        "torch.save(module, kept)",
        "kept.seek(0)",
        "twin = torch.load(kept, weights_only=False)",
        "wrong = not torch.allclose(attend(twin, first), before)",
    ),
    "loads_its_state_dict": (
        "before = attend(module, first)",
        "twin = {build}",
        "attend(twin, first)",
        "twin.load_state_dict(module.state_dict())",
        *SPOIL,
        "wrong = not torch.allclose(attend(twin, first), before)",
    ),
    "keeps_no_state": (
        "before = attend(module, first).clone()",
        "for call in calls[1:]:",
        "    attend(module, call)",
        "wrong = not torch.equal(attend(module, first), before)",
    ),
    "registers_parameters": (
        "OWN = ('_parameters', '_buffers', '_modules')",
        "registered = list(module.modules())",
        "",
        "",
        "def is_hidden(value):",
        "    if isinstance(value, (list, tuple)):",
        "        return any(map(is_hidden, value))",
        "    if isinstance(value, dict):",
        "        return any(map(is_hidden, value.values()))",
        "    if isinstance(value, torch.nn.Module):",
        "        return all(value is not one for one in registered)",
        "    return torch.is_tensor(value) and value.requires_grad",
        "",
        "",
        "found = [(n, v) for m in registered for n, v in vars(m).items() if n not in OWN]",
        "names = [name for name, value in found if is_hidden(value)]",
        "print(*names)",
        "wrong = bool(names) or not parameters",
    ),
    "uses_every_parameter": (
        "(attend(module, first) * normal({shape}, 1.0)).sum().backward()",
        "idle = [n for n, p in parameters.items() if p.grad is None or not p.grad.any()]",
        "print(*idle)",
        "wrong = bool(idle)",
    ),
    "leaves_switches_alone": (
        "state = torch.get_rng_state()",
        "attend(module, first)",
        "wrong = not torch.equal(torch.get_rng_state(), state)",
        "wrong |= torch.get_default_dtype() != torch.float32 or not torch.is_grad_enabled()",
        "wrong |= torch.are_deterministic_algorithms_enabled()",
    ),
    "dead_row_gradients_are_finite": (
        "sequences = [x.requires_grad_() for x in first[:{sequences}]]",
        "(attend(module, first) * normal({shape}, 1.0)).sum().backward()",
        "reached = [*sequences, *parameters.values()]",
        "wrong = not all(x.grad is None or x.grad.isfinite().all() for x in reached)",
        "wrong |= any(x.grad is None for x in sequences)",
    ),
}
