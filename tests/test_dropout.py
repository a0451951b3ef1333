"""Dropout read back out of outputs, where there is something to read."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from grader.bank import load_exercise
from grader.bank.applied import read_applied
from grader.bank.bench import Answer
from grader.bank.draw import pose
from grader.bank.masks import Sizes


def test_where_no_weight_is_left_nothing_is_said_to_be_dropped_rightly():
    contract = load_exercise("self-attention").contract
    problem = pose(7, "dropout", contract, Sizes(kv_len=5), frozenset(), True, ())
    weightless = replace(problem.right, softmax=np.zeros_like)
    bench = SimpleNamespace(
        charged_elsewhere=lambda case: [],
        steps=lambda mistakes: weightless,
        answer=lambda seen, call: Answer(problem.truth.output, None),
    )
    found = read_applied(bench, None, problem, None)
    assert found.credit == 0.0
    assert found.message.key == "dropout.no-output"
