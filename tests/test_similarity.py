"""Near-copies: found whatever they are called, and honest work left in peace."""

import random
from itertools import combinations
from pathlib import Path

import pytest

from benchmarks.disguise import disguise
from grader.similarity import Pair, Passage, Similarity, find_similar, render_similarity
from grader.similarity.fingerprints import RUN, WINDOW, hash_runs, winnow
from grader.similarity.tokens import tokenize
from grader.texts import load_texts

ROOT = Path(__file__).parent.parent
RIGHT = ROOT / "tests" / "submissions" / "right"
# Written apart from each other; others of the corpus come from one source.
HONEST = (
    "free_bert_self_attention.py",
    "free_block_holding_attention.py",
    "free_conv1d_in_out_weights.py",
    "free_dict_config.py",
    "free_einsum_head_tensors.py",
    "free_gpt_config.py",
    "free_old_school_variables.py",
    "free_vit_einops.py",
    "greek_names.py",
    "parameterlist.py",
)


def read(name):
    return (RIGHT / name).read_text(encoding="utf-8")


def stubs():
    return [path.read_text(encoding="utf-8") for path in sorted((ROOT / "exercises").glob("*.py"))]


def named(sources, known=(), **options):
    return [(p.first, p.second) for p in find_similar(sources, known, **options).pairs]


def plain(source):
    return tokenize(source).codes


HONEST_SOURCES = {name: read(name) for name in HONEST}
ONE = HONEST_SOURCES["free_bert_self_attention.py"]


def test_honest_files_are_left_in_peace():
    assert named(HONEST_SOURCES, stubs()) == []


@pytest.mark.parametrize("name", HONEST)
def test_disguised_copy_is_found(name):
    copied = disguise(read(name), random.Random(5))
    assert set(copied.split()) != set(read(name).split())
    found = find_similar({**HONEST_SOURCES, "copy.py": copied}, stubs())
    assert [sorted((p.first, p.second)) for p in found.pairs] == [sorted(("copy.py", name))]
    assert found.pairs[0].similarity > 0.8


def test_names_comments_literals_and_layout_do_not_count():
    first = "def f(self, x):\n    y = self.q(x).view(2, 3)  # split\n    return (y)\n"
    second = (
        (
            'def merge(this, tokens):\n    """Says what it does."""\n'
            "    heads = (\n        this.query_projection\n        (tokens,).view(7,\n 5,)\n    )\n"
            "    return (heads)\n"
        )
        .replace("(\n        this", "this", 1)
        .replace("\n    )\n    return", "\n    return")
    )
    assert plain(first) == plain(second)


def test_names_of_torch_count():
    assert plain("x.view(2)") != plain("x.softmax(2)")
    assert plain("q.view(2)") == plain("k.view(3)")


def test_annotations_count_for_nothing():
    typed = "def f(self, x: Dict[str, int] = {}, *, y: int) -> Tuple[int, int]:\n  return x[1:2]"
    assert plain(typed) == plain("def f(self, x={}, *, y):\n  return x[1:2]")
    assert len(plain("x[1:2]")) == 6


def test_field_may_be_renamed():
    first = "class C:\n  heads: int = 4\ndef f(c):\n  return c.heads"
    assert plain(first) == plain(first.replace("heads", "n_h"))


def test_imports_count_for_nothing():
    assert plain("import torch\nfrom torch import (\n  nn,\n  Tensor)\nx = 1\n") == plain("y = 2")


def test_attribute_of_the_file_itself_may_be_renamed():
    first = "class A:\n def f(self):\n  self.heads = 1\nA().heads"
    second = "class B:\n def g(me):\n  me.count = 2\nB().count"
    assert plain(first) == plain(second)


def test_token_knows_its_line():
    tokens = tokenize('"""Three\nlines\nhere."""\n\n# more\nx = [1,\n  2,\n]\n')
    assert tokens.lines == (6, 6, 6, 6, 6, 7, 8)


@pytest.mark.parametrize(
    "source",
    [
        "",
        "\n" * 50,
        "def f(:\n    'never closed\n  x = (((\n",
        '"""' + ONE,
        "\x00\x01\x02 \ud800 ‮ 中文 ¼",
        "x = 1\\",
        "((((((((((" * 200,
    ],
)
def test_any_text_will_do(source):
    found = find_similar({"odd.py": source, "a.py": ONE, "b.py": ONE})
    assert ("a.py", "b.py") in [(p.first, p.second) for p in found.pairs]


def test_copy_that_does_not_parse_is_found():
    broken = ONE.replace("def forward(", "def forward((", 1)
    assert broken != ONE
    assert named({"a.py": ONE, "b.py": broken}) == [("a.py", "b.py")]


def test_nothing_is_run(tmp_path):
    trap = f"open({str(tmp_path / 'sprung')!r}, 'w')\n{ONE}"
    assert named({"a.py": trap, "b.py": trap}) == [("a.py", "b.py")]
    assert list(tmp_path.iterdir()) == []


def test_stub_alone_is_not_alike():
    stub = stubs()[0]
    assert named({"a.py": stub, "b.py": stub}, [stub]) == []
    assert named({"a.py": ONE, "b.py": ONE}, [ONE]) == []


def test_what_most_files_share_is_left_out():
    helper = HONEST_SOURCES["greek_names.py"]
    own = [name for name in HONEST if name != "greek_names.py"]
    sources = {name: helper + read(name) for name in own}
    assert len(sources) == 9
    sources["tenth.py"] = helper
    assert named(sources) == []
    # Where there are too few files to say what is usual, it shows.
    few = {name: sources[name] for name in own[:3]}
    assert len(named(few, at_least=0.3)) == 3


def test_passages_name_lines_in_both_files():
    lines = ONE.splitlines()
    second = ["# mine", "", *lines]
    pair = find_similar({"a.py": ONE, "b.py": "\n".join(second)}).pairs[0]
    assert pair.similarity == 1.0
    assert pair.passages
    for passage in pair.passages:
        assert [at + 2 for at in passage.first] == list(passage.second)


def method(name, *calls):
    body = "".join(f"    x = y.{call}(x, z, y + x)\n" for call in calls)
    return f"def {name}(x, y, z):\n{body}\n"


def test_reordered_methods_are_two_passages():
    calls = ("view", "softmax", "matmul", "relu"), ("tanh", "exp", "log", "abs")
    first = method("f", *calls[0]) + method("g", *calls[1])
    second = method("b", *calls[1]) + method("a", *calls[0])
    pair = find_similar({"a.py": first, "b.py": second}, at_least=0.1).pairs[0]
    assert pair.passages == (Passage((1, 5), (7, 11)), Passage((7, 11), (1, 5)))


def test_most_alike_comes_first():
    partly = ONE[: len(ONE) * 3 // 4] + HONEST_SOURCES["greek_names.py"]
    pairs = find_similar({"a.py": ONE, "b.py": ONE, "c.py": partly}, at_least=0.3).pairs
    assert (pairs[0].first, pairs[0].second, pairs[0].similarity) == ("a.py", "b.py", 1.0)
    assert [p.similarity for p in pairs] == sorted((p.similarity for p in pairs), reverse=True)


def test_limit_keeps_the_count():
    found = find_similar({f"{n}.py": ONE for n in range(5)}, limit=2)
    assert (found.files, found.found, len(found.pairs)) == (5, 10, 2)


def test_large_group_of_copies_is_named():
    """More files than one is compared with: each still meets some of the others."""
    sources = {f"{n:03}.py": ONE for n in range(60)}
    others = [name for name in HONEST if read(name) != ONE]
    honest = {f"{n}-{name}": read(name) for name in others for n in range(10)}
    pairs = named({**sources, **honest}, limit=10**6)
    assert {name for pair in pairs for name in pair if name in sources} == set(sources)


def test_shared_stretch_has_a_fingerprint_in_common():
    rng = random.Random(1)
    shared = [rng.randrange(1000) for _ in range(RUN + WINDOW - 1)]
    for _ in range(50):
        first, second = ([rng.randrange(1000) for _ in range(40)] for _ in range(2))
        prints = [winnow(hash_runs([*one[:20], *shared, *one[20:]])) for one in (first, second)]
        assert prints[0] & prints[1]


def test_repeated_text_is_no_obstacle():
    flood = "x = y.view(x, z)\n" * 10_000
    pair = find_similar({"a.py": ONE + flood, "b.py": flood + ONE}).pairs[0]
    assert pair.similarity > 0.9
    assert pair.passages[0].second[0] > 10_000


PAIR = Pair(
    "anna.py", "ben\x1b[31m.py", 0.876, (Passage((3, 9), (12, 18)), Passage((20, 20), (4, 4)))
)
FOUND = Similarity(40, 3, (PAIR,))


def test_english_text():
    assert render_similarity(FOUND, load_texts("en")) == (
        "Files that are much alike: 3 pairs among 40 files\n"
        "This is something for a human to read, never a verdict. Two files may be alike by a "
        "common\nsource, by work that was allowed to be shared, or because there are few ways to "
        "write the thing.\nNames, comments and numbers are not compared; the stub and what most of "
        "the files share are left\nout. The figure says how much of the shorter file is in the "
        "other too.\n"
        "\n"
        " 87 %  anna.py  ben\\x1b[31m.py\n"
        "      Lines in the first and in the second: 3-9 = 12-18, 20 = 4\n"
        "\n"
        "2 more pairs are not shown.\n"
    )


def test_chinese_text():
    said = render_similarity(FOUND, load_texts("zh"))
    assert said.startswith("40 个文件中有 3 对十分相似\n本列表仅供人工查看，绝不是结论。")
    assert said.endswith(
        " 87 %  anna.py  ben\\x1b[31m.py\n"
        "      前一文件与后一文件的对应行：3-9 = 12-18, 20 = 4\n"
        "\n"
        "另有 2 对未列出。\n"
    )


def test_nothing_found_is_said_so():
    assert render_similarity(Similarity(4, 0, ()), load_texts("en")) == (
        "No two of the 4 files are much alike. That is no proof that each was written alone.\n"
    )


def test_order_of_files_changes_nothing():
    sources = {**HONEST_SOURCES, "copy.py": disguise(ONE, random.Random(1))}
    backwards = dict(reversed(sources.items()))
    assert find_similar(sources) == find_similar(backwards)
    assert all(p.first < p.second for p in find_similar(sources).pairs)
    assert len([*combinations(sources, 2)]) == 55
