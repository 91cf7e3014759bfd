"""Notebooks: their cells as modules, positions in cells and files, and changed code back where not a byte beside it is touched."""

from __future__ import annotations

import json

import pytest
from mcp_migrate import cells, notebooks
from mcp_migrate.notebooks import NoNotebook, Notebook
from mcp_migrate.source import Position

SERVER = "from mcp.server.fastmcp import FastMCP\nmcp = FastMCP('é \"😀\"')"
TOOL = '@mcp.tool()\ndef add(a: int) -> int:\n\treturn a  # \\n "x"\n'
OUTPUT = {"name": "stdout", "output_type": "stream", "text": ["from mcp import é\n", "😀"]}


def cell(source: object, kind: str = "code", **more: object) -> dict[str, object]:
    return {
        "cell_type": kind,
        **({"outputs": [OUTPUT], "execution_count": 1} if kind == "code" else {}),
        "metadata": {"b": 1, "a": 2.50},
        "source": source,
        **more,
    }


def notebook(*listed: object, **more: object) -> dict[str, object]:
    return {"cells": [*listed], "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5, **more}


FORMS = {
    "as Jupyter writes it": lambda document: json.dumps(document, indent=1, ensure_ascii=False) + "\n",
    "escaped": lambda document: json.dumps(document, indent=1),
    "in one line": lambda document: json.dumps(document, ensure_ascii=False),
    "tight": lambda document: json.dumps(document, separators=(",", ":")),
    "tabs": lambda document: json.dumps(document, indent="\t", ensure_ascii=False),
    "crlf": lambda document: json.dumps(document, indent=2, ensure_ascii=False).replace("\n", "\r\n") + "\r\n",
    "sorted": lambda document: json.dumps(document, indent=4, sort_keys=True, ensure_ascii=False),
}
SOURCES = {
    "lines": lambda text: cells.lines_of(text),
    "one text": lambda text: text,
    "odd pieces": lambda text: [text[:7], text[7:20], text[20:]],
}
every_form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
every_source = pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)


def read(data: bytes) -> Notebook:
    (found,) = notebooks.read("a.ipynb", data)
    return found


def sources(data: bytes) -> list[str]:
    return ["".join(one["source"]) for one in json.loads(data)["cells"]]


def without_sources(data: bytes) -> object:
    document = json.loads(data)
    for one in document["cells"]:
        del one["source"]
    return json.dumps(document)


@every_form
@every_source
def test_a_notebook_that_does_not_change_keeps_every_byte(form, source) -> None:
    data = form(
        notebook(cell(["# Text\n"], "markdown"), cell(source(SERVER)), cell(source("%pip install mcp\n")), cell(source(TOOL)))
    ).encode()
    found = read(data)
    assert list(found.edits(found.source.text)) == []


@every_form
@every_source
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("FastMCP", "MCPServer"),
        ("mcp = ", "x = 'é😀'\nmcp = "),
        ("from mcp.server.fastmcp import FastMCP\n", ""),
        ("from mcp.server", "import os\nfrom mcp.server"),
        ("\treturn a", "\tif a:\n\t\treturn 0\n\treturn a"),
        ("@mcp.tool()\n", ""),
        ("('é \"😀\"')", "('é \"😀\"',\n\t1)"),
    ],
    ids=["words", "a line between", "the first line goes", "a new first line", "lines inside", "a line goes", "the last line grows"],
)
def test_changed_lines_go_back_and_nothing_else_is_touched(form, source, old, new) -> None:
    data = form(notebook(cell(["# Text\n"], "markdown"), cell(source(SERVER)), cell(source("!ls é\n")), cell(source(TOOL)))).encode()
    found = read(data)
    made = notebooks.written(data, found.edits(found.source.text.replace(old, new)))
    assert sources(made) == ["# Text\n", SERVER.replace(old, new), "!ls é\n", TOOL.replace(old, new)]
    assert without_sources(made) == without_sources(data)
    assert made.isascii() == data.isascii()
    assert made.endswith(data[-2:])
    # A second reading sees what was meant.
    assert [again.source.text for again in notebooks.read("a.ipynb", made + b" ")] in ([found.source.text.replace(old, new)], [])
    assert ("import" in new or not new) or notebooks.read("a.ipynb", made)


@every_form
def test_only_the_bytes_of_changed_lines_change(form) -> None:
    data = form(notebook(cell(cells.lines_of(SERVER)), cell(TOOL))).encode()
    found = read(data)
    made = notebooks.written(data, found.edits(found.source.text.replace("add", "sum")))
    assert made == data.replace(b"add", b"sum")


@every_form
@every_source
def test_each_character_has_its_place_in_its_cell_and_in_the_file(form, source) -> None:
    data = form(notebook(cell(["x"], "markdown"), cell(source(SERVER)), cell(source(TOOL)))).encode()
    found = read(data)
    lines = data.decode().split("\n")
    for number, text in ((2, SERVER), (3, TOOL)):
        for row, line in enumerate(cells.lines_of(text), start=1):
            inner = cells.lines_of(found.source.text).index(line if line.endswith("\n") else f"{line}\n") + 1
            for column, char in enumerate(line.rstrip("\n"), start=1):
                place = found.place(Position(inner, column))
                assert (place.cell, place.position) == (number, Position(row, column))
                assert lines[place.raw.line - 1][place.raw.column - 1] in (char, "\\")


def test_what_is_no_python_is_kept_apart_and_stays() -> None:
    magic = [
        "%pip install -q \\\n",
        "   mcp\n",
        "import os\n",
        "x = !ls\n",
        "if os:\n",
        "    %time y = 1\n",
        "os.path?\n",
        "z = (1\n",
        " % 2)",
    ]
    data = json.dumps(
        notebook(cell(magic), cell("%%bash\nfrom mcp import x\n"), cell("%%time\nfrom mcp import types\ny = types.Tool"))
    ).encode()
    found = read(data)
    assert [line for line in found.source.text.splitlines() if "hidden" not in line] == [
        "import os", "if os:", "z = (1", " % 2)", '"-- next cell --"', '"-- next cell --"', "from mcp import types", "y = types.Tool",
    ]  # fmt: skip
    made = notebooks.written(data, found.edits(found.source.text.replace("y = types", "z = types")))
    assert sources(made) == ["".join(magic), "%%bash\nfrom mcp import x\n", "%%time\nfrom mcp import types\nz = types.Tool"]


def test_what_goes_over_the_border_of_a_cell_is_refused() -> None:
    text = cells.join(["import os", "x = 1"])
    assert cells.objection(text, text.replace("= 1", "= 2")) is None
    assert cells.objection(text, "import os\nx = 1") is not None
    hidden = cells.readable("!ls\nx = 1\n")
    assert hidden is not None
    assert cells.objection(hidden, "x = 1\n") is not None
    assert cells.objection("x = 1", "y = 1") is None


def test_a_file_that_a_notebook_writes_is_a_module_of_its_own() -> None:
    data = json.dumps(
        notebook(
            cell("from mcp import types"),
            cell("%%writefile app/server.py\nold = 1\n"),
            cell("%%writefile app/server.py\nfrom mcp.server.fastmcp import FastMCP\n"),
            cell("%%writefile -a app/server.py\nmcp = FastMCP('x')\n"),
            cell("%%writefile notes.txt\nfrom mcp import x\n"),
        )
    ).encode()
    runs, writes = notebooks.read("a.ipynb", data)
    assert (runs.path, writes.path, writes.file) == ("a.ipynb", "a.ipynb/app/server.py", "a.ipynb")
    assert [one.number for one in writes.cells] == [3, 4]
    made = notebooks.written(data, writes.edits(writes.source.text.replace("FastMCP", "MCPServer")))
    assert sources(made)[2:4] == [
        "%%writefile app/server.py\nfrom mcp.server.fastmcp import MCPServer\n",
        "%%writefile -a app/server.py\nmcp = MCPServer('x')\n",
    ]
    assert writes.place(Position(2, 1))[:2] == (3, Position(2, 1))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"cells": [{"source": "from mcp import x"', "not a notebook"),
        ('{"nbformat": 3, "worksheets": ["import mcp"]}', "format 3"),
        ('["import mcp"]', "names no `nbformat`"),
        ('{"nbformat": 4, "x": "import mcp"}', "has no `cells`"),
    ],
)
def test_a_broken_notebook_says_why(text: str, reason: str) -> None:
    with pytest.raises(NoNotebook, match=reason):
        notebooks.read("a.ipynb", text.encode())


@pytest.mark.parametrize(
    "data",
    [
        b'{"cells": [ mcp',
        b"",
        json.dumps(notebook(cell("import os"), cell("from mcp import x", "markdown"))).encode(),
        json.dumps({**notebook(cell("from mcp import x")), "metadata": {"language_info": {"name": "R"}}}).encode(),
    ],
    ids=["broken, but of others", "empty", "nothing of ours", "another language"],
)
def test_what_is_not_read(data: bytes) -> None:
    assert notebooks.read("a.ipynb", data) == []


def test_a_cell_that_cannot_be_parsed_is_told_and_the_others_are_read() -> None:
    found = read(
        json.dumps(notebook(cell("import os"), cell("from mcp import (\n"), cell("from mcp import types\n"), cell("x = = 1"))).encode()
    )
    ((line, error),) = notebooks.broken(found)
    assert found.place(Position(line, 1)).cell == 2
    assert error.lineno == 1
