"""What was proven about servers is kept from round to round only while the project answers all of its questions as before."""

from __future__ import annotations

from pathlib import Path

from mcp_migrate.project import Project, read
from mcp_migrate.rewrite import servers
from mcp_migrate.rewrite.traced import Traced, holds
from mcp_migrate.rule import Era
from mcp_migrate.source import Source

BEFORE = Path(__file__).parent.parent / "fixtures" / "servers" / "notes_chain" / "before"


def linked(**more: str) -> Project:
    texts = {path.name: path.read_text(encoding="utf-8") for path in BEFORE.glob("*.py")}
    return Project.link(read(Source(path, text)) for path, text in {**texts, **{f"{name}.py": text for name, text in more.items()}}.items())


def test_a_changed_file_is_proven_anew_and_one_that_nothing_asked_for_changes_nothing() -> None:
    project = linked(apart="X = 1\n")
    found = servers.answers(project, "server.py", Era.DUAL)
    assert found
    apart = project.replace([read(Source("apart.py", "X = 2\n"))])
    assert all(one is other for one, other in zip(servers.answers(apart, "server.py", Era.DUAL), found, strict=True))
    text = "# moved\n" + project.files["server.py"].source.text
    changed = project.replace([read(Source("server.py", text))])
    fresh = Project.link(changed.files.values())
    assert servers.answers(changed, "server.py", Era.DUAL) == servers.answers(fresh, "server.py", Era.DUAL) != found


def test_a_new_importer_is_another_answer() -> None:
    project = linked()
    traced = Traced(project)
    assert traced.importers("server.py") == ()
    assert holds(traced.asked, project)
    assert not holds(traced.asked, project.replace([read(Source("runs.py", "import server\nprint('tools/call')\n"))]))
