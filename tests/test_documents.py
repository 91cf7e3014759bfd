"""The examples of documents: which blocks are found, where they stand, and how changed ones go back."""

from __future__ import annotations

from dataclasses import replace

import pytest
from markdown_it import MarkdownIt
from mcp_migrate import documents
from mcp_migrate.documents import Unwritable
from mcp_migrate.rewrite import edits
from mcp_migrate.source import Source, Span

SERVER = "from mcp.server.fastmcp import FastMCP\n\nmcp = FastMCP('é 😀')\n"

SHAPES = {
    "plain": f"# A\n\n```python\n{SERVER}```\n",
    "tildes": f"~~~ py\n{SERVER}~~~~~\n",
    "attributes": f'```python title="server.py" {{hl_lines="1 2"}}\n{SERVER}```\n',
    "braces": f"``` {{.python3 .numberLines}}\n{SERVER}```\n",
    "longer": f"````python\n{SERVER}````\n",
    "list": "1. then\n\n   ```python\n" + "".join(f"   {line}" if line.strip() else line for line in SERVER.splitlines(True)) + "   ```\n",
    "bullet": "- ```python\n" + "".join(f"  {line}" if line.strip() else line for line in SERVER.splitlines(True)) + "  ```\n",
    "quote": "> said\n>\n> ```python\n" + "".join(f"> {line}".replace("> \n", ">\n") for line in SERVER.splitlines(True)) + "> ```\n",
    "tab": "=== one\n\n\t```python\n" + "".join(f"\t{line}" if line.strip() else line for line in SERVER.splitlines(True)) + "\t```\n",
    "crlf": f"```python\n{SERVER}```\n".replace("\n", "\r\n"),
    "bom": f"\ufeff```python\n{SERVER}```\n",
}
RST = {
    "code-block": ".. code-block:: python\n   :caption: é\n\n"
    + "".join(f"   {line}" if line.strip() else line for line in SERVER.splitlines(True)),
    "code": "Text::\n\n    no\n\n.. code:: python\n\n\t" + "\t".join(SERVER.splitlines(True)[:1]) + "\n\tmcp = FastMCP('é 😀')\n\nMore.\n",
    "in a list": "- one\n\n  .. code-block:: python\n\n"
    + "".join(f"     {line}" if line.strip() else line for line in SERVER.splitlines(True))
    + "\n- two\n",
}
every_shape = pytest.mark.parametrize(
    ("path", "text"),
    [*(("a.md", text) for text in SHAPES.values()), *(("a.rst", text) for text in RST.values())],
    ids=[*SHAPES, *RST],
)


def document(text: str, path: str = "README.md") -> Source:
    source = documents.read(path, text.encode("utf-8"))
    assert source is not None
    return source


def put_back(example: documents.Example, text: str) -> str:
    return edits.apply(example.document.utf8, example.edits(text)).decode("utf-8")


@every_shape
def test_each_character_of_an_example_stands_where_its_span_says(path: str, text: str) -> None:
    (example,) = documents.examples(document(text, path))
    code = example.source.text
    for number, char in enumerate(code):
        if not char.isspace():
            start = len(code[:number].encode("utf-8"))
            span = example.span(Span(start, start + len(char.encode("utf-8"))))
            assert example.document.slice(span) == char


@every_shape
def test_an_example_that_does_not_change_changes_nothing(path: str, text: str) -> None:
    (example,) = documents.examples(document(text, path))
    assert put_back(example, example.source.text) == text.removeprefix("\ufeff")


@every_shape
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("FastMCP", "MCPServer"),
        ("mcp = ", "name = 'x'\n\nmcp = "),
        ("FastMCP('é 😀')", "FastMCP(\n    'é',\n)"),
        ("from mcp.server.fastmcp import FastMCP", "import mcp.server"),
    ],
    ids=["other words", "more lines", "a line in three", "another first line"],
)
def test_a_changed_example_is_read_again_as_it_was_written(path: str, text: str, old: str, new: str) -> None:
    (example,) = documents.examples(document(text, path))
    wanted = example.source.text.replace(old, new.replace("\n", example.document.newline))
    made = put_back(example, wanted)
    (block,) = documents.blocks(replace(example.document, text=made))
    assert block.code.rstrip() == wanted.rstrip()
    # Beside the block, every line is as it was.
    before, after = text.removeprefix("\ufeff").splitlines(), made.splitlines()
    (was,) = example.blocks
    assert after[: was.first] == before[: was.first]
    assert after[block.last - 1 :] == before[was.last - 1 :] or path.endswith(".rst")


@pytest.mark.parametrize(
    "text",
    [
        "```python\nfrom mcp.server.fastmcp import (\n```\n",
        "```python\nfrom mcp import types\n",
        "```pythonic\nfrom mcp import types\n```\n",
        "```sh\nfrom mcp import types\n```\n",
        "```\nfrom mcp import types\n```\n",
        "``` py `x`\nfrom mcp import types\n",
        "> ```python\n> from mcp import types\nend\n",
        "```python\n# Before\nfrom mcp import McpError\n\n# After\nfrom mcp import MCPError\n```\n",
        "```python\nimport os\n```\n\nfrom mcp import types\n",
        "```python\nasync with Client(...) as mcp:\n```\nfrom mcp import x\n",
    ],
    ids=[
        "no Python",
        "open end",
        "another language",
        "shell",
        "no language",
        "no fence",
        "torn quote",
        "before and after",
        "nothing of ours",
        "half a statement",
    ],
)
def test_what_is_no_example(text: str) -> None:
    assert documents.examples(document(text)) == []


def test_a_block_is_read_with_those_that_it_builds_on() -> None:
    text = "".join(
        f"```python\n{code}\n```\n\n"
        for code in (
            "from mcp.server.fastmcp import FastMCP\nmcp = FastMCP('one')",
            "@mcp.tool()\ndef one(): ...",
            "from mcp.server.lowlevel import Server\nserver = Server('two')",
            "@mcp.tool()\ndef again(): ...",
            "@server.list_tools()\nasync def two(): ...",
            "print(undefined)",
        )
    )
    one, two = documents.examples(document(text))
    assert [block.code.splitlines()[-1] for block in one.blocks] == ["mcp = FastMCP('one')", "def one(): ...", "def again(): ..."]
    assert [block.code.splitlines()[-1] for block in two.blocks] == ["server = Server('two')", "async def two(): ..."]


def test_prompts_and_what_is_printed_are_no_code() -> None:
    text = "```pycon\n>>> from mcp.types import Tool\n>>> def f():\n...     return Tool\n...\n>>> f()\n<class Tool>\n```\n"
    (example,) = documents.examples(document(text))
    assert example.source.text == "from mcp.types import Tool\ndef f():\n    return Tool\n\nf()\n"
    assert put_back(example, example.source.text.replace("Tool", "Text")) == text.replace("Tool", "Text").replace(
        "<class Text>", "<class Tool>"
    )
    with pytest.raises(Unwritable):
        example.edits("import os\n" + example.source.text)


def test_commands_in_an_example_stay_as_they_are() -> None:
    text = "```python\n!pip install mcp\nfrom mcp import types\n```\n"
    (example,) = documents.examples(document(text))
    assert put_back(example, example.source.text.replace("import types", "import x")) == text.replace("import types", "import x")


def test_an_example_that_would_be_empty_is_refused() -> None:
    (example,) = documents.examples(document("```python\nfrom mcp import types\n```\n"))
    with pytest.raises(Unwritable):
        example.edits("\n")


@pytest.mark.parametrize(
    "name",
    [
        "CHANGELOG.md",
        "docs/changes.rst",
        "release-notes.md",
        "v2-migration.md",
        "whats-new.mdx",
        "docs/upgrading.md",
        "docs/upgrading/from-1.md",
    ],
)
def test_documents_of_the_past_show_the_code_of_the_past(name: str) -> None:
    assert documents.tells_of_past(name)
    assert not documents.may_show(name, SHAPES["plain"].encode())


@pytest.mark.parametrize("name", ["README.md", "docs/server.rst", "exchange.md", "newsletter.md"])
def test_other_documents_do_not(name: str) -> None:
    assert not documents.tells_of_past(name)


@pytest.mark.parametrize("name", [name for name in SHAPES if name not in ("tab", "bom")])
def test_blocks_are_those_of_a_parser_of_markdown(name: str) -> None:
    source = document(SHAPES[name])
    found = [
        (token.map[0] + 1, token.map[1]) for token in MarkdownIt("commonmark").parse(source.text) if token.type == "fence" and token.map
    ]
    assert [(block.first, block.last) for block in documents.blocks(source)] == found


def test_a_document_in_another_encoding_is_none() -> None:
    assert documents.read("README.md", "```python\nfrom mcp import é\n```".encode("latin-1")) is None
