"""Cost grows as code does: twice the files, or twice the functions in a file, are at most twice the calls and a little more.

Calls are counted, not seconds, so that a busy machine changes nothing.
"""

from __future__ import annotations

import ast
import cProfile
import gc
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest
from mcp_migrate import engine
from mcp_migrate.catalog import load
from mcp_migrate.project import Project, read
from mcp_migrate.sdk.infer import Inference
from mcp_migrate.source import Source

FIXTURES = Path(__file__).parent.parent / "fixtures"
CATALOG = load()
# Small inputs show a quadratic step only beside all that is linear: what one caller asks of one function is compared, and not the sum.
COPIES = 6
FEW = 40  # calls that are too few to tell anything

SERVERS = (
    "fastmcp4/constructor_transport/not_moved",
    "fastmcp4/constructor_transport/one_file",
    "fastmcp4/era_bound_question/rounds",
    "fastmcp4/lost_state/between_calls",
    "mcp2/ambient_context/parameter",
    "mcp2/base_session/derived",
    "mcp2/direct_call/results",
    "mcp2/fail_open_elicitation/goes_on_later",
    "mcp2/hidden_errors/all_caught",
    "mcp2/transport_option/settings",
    "mcp2/unpublished_update/subscribed",
)
IN_ONE_FILE = (
    "fastmcp4/constructor_transport/one_file",
    "fastmcp4/read_as_list/shapes",
    "mcp2/camel_case_key/updates",
    "mcp2/direct_call/results",
    "mcp2/http_client_call/entered",
    "mcp2/memory_session/tests",
    "mcp2/stream_class/handed_on",
)


@pytest.mark.parametrize("case", SERVERS)
def test_cost_grows_as_the_number_of_files(case):
    text = _text(case)
    assert _steep(*(calls({f"server_{number}.py": text for number in range(count * COPIES)}) for count in (1, 2, 3))) == {}


@pytest.mark.parametrize("case", IN_ONE_FILE)
def test_cost_grows_as_the_length_of_a_file(case):
    text = _text(case)
    copies = [_renamed(text, number) for number in range(3 * COPIES)]
    assert _steep(*(calls({"server.py": "\n\n".join(copies[: count * COPIES])}) for count in (1, 2, 3))) == {}


def test_cost_grows_as_the_number_of_servers_of_one_name():
    """Each folder has a `server` of its own, which its neighbour imports."""
    files = {
        f"example_{number}/{name}": text
        for number in range(3 * COPIES)
        for name, text in (("server.py", _text("mcp2/hidden_errors/all_caught")), ("main.py", "from server import mcp\n\nmcp.run()\n"))
    }
    assert _steep(*(calls(dict([*files.items()][: count * 2 * COPIES])) for count in (1, 2, 3))) == {}


def test_a_step_that_looks_at_everything_for_everything_is_seen():
    def each(count: int) -> int:
        return sum(len(str(other)) for _ in range(count) for other in range(count))

    assert _steep(*(_counted(lambda count=count: each(count * COPIES)) for count in (1, 2, 3)))


Count = Mapping[tuple[object, object], int]


def calls(files: Mapping[str, str]) -> Count:
    """How often `check` calls each function from each other one."""

    def check() -> None:
        engine.check(Project.link(read(Source(path, text)) for path, text in files.items()), CATALOG)

    check()  # what is imported, compiled and read once is no part of it
    return _counted(check)


def _counted(run) -> Count:
    profile = cProfile.Profile()
    gc.collect()
    gc.disable()  # what it drops, and when, has nothing to do with the code
    try:
        profile.runcall(run)
    finally:
        gc.enable()
    counts: Counter[tuple[object, object]] = Counter()
    for entry in profile.getstats():
        for called in entry.calls or ():
            counts[_name(entry.code), _name(called.code)] += called.callcount
    return counts


def _name(code: object) -> object:
    return code if isinstance(code, str) else (Path(code.co_filename).name, code.co_firstlineno, code.co_name)


def _steep(one: Count, two: Count, three: Count) -> dict[tuple[object, object], tuple[int, ...]]:
    """What is called much more often at the second doubling than a line through the first two would have it."""
    found = {}
    for pair, last in three.items():
        counts = one.get(pair, 0), two.get(pair, 0), last
        bend = counts[2] - 2 * counts[1] + counts[0]
        # A quadratic step at these sizes bends by twice the square of the copies, or at least by that of one call for each pair of two.
        if last > FEW and bend >= COPIES * COPIES and last > 1.6 * counts[1]:
            found[pair] = counts
    return found


def _text(case: str) -> str:
    return (FIXTURES / case / "before.py").read_text(encoding="utf-8")


def _renamed(text: str, number: int) -> str:
    """The code with a number behind each name that it defines at its top, so that copies of it can stand in one file below the first."""
    if number:
        imports = {line for node in ast.parse(text).body if _is_import(node) for line in range(node.lineno, (node.end_lineno or 0) + 1)}
        text = "".join(line for at, line in enumerate(text.splitlines(keepends=True), start=1) if at not in imports)
    tree = ast.parse(text)
    names = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}
    names |= {target.id for node in tree.body if isinstance(node, ast.Assign) for target in node.targets if isinstance(target, ast.Name)}
    spelled = "|".join(map(re.escape, sorted(names)))
    return re.sub(rf"(?<![\w.])({spelled})\b(?!\s*=[^=\s])", rf"\g<1>_{number}", text) if names else text


def _is_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


@pytest.mark.parametrize("count", [6, 12])
def test_functions_that_all_call_each_other_do_not_ask_in_every_order(count, monkeypatch):
    steps = "".join(
        f"\n\ndef step_{one}(it):\n"
        + "".join(f"    step_{other}(it.part_{one})\n" for other in range(count) if other != one)
        + "    return it.isError\n"
        for one in range(count)
    )
    asked = []
    kept = Inference._type
    monkeypatch.setattr(Inference, "_type", lambda self, node, module: asked.append(node) or kept(self, node, module))
    Project.link([read(Source("steps.py", f"from mcp.types import CallToolResult\n{steps}"))])
    assert len({*asked}) < len(asked) < 70_000
