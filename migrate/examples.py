"""The examples of documents in a run: found and fixed as projects of their own, for they say nothing about the code around them."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from . import documents
from .documents import Unwritable
from .engine import Dropped, Fixed
from .facts.model import Borrowed, Dispatcher, Import, Requirement
from .manifests import files as manifests
from .project import Project
from .project import read as facts_of
from .reading import Document, Reading
from .rewrite import edits
from .rule import Applicability, Finding, Severity
from .source import Source

if TYPE_CHECKING:
    from .run import Run

_MANUAL = Applicability.MANUAL
_NO_PLACE = "its fix needs a module beside it, for which a document has no place"
_SHOWN = "the example only shows the import: say what it is to show now"
_BUT = "not without"


class _Found(NamedTuple):
    """A finding in an example: as its rule tells it, and as the run does."""

    inner: Finding
    told: Finding


def findings(run: Run, read: Reading) -> list[Finding]:
    """What is found in the examples of all documents, as notes. What is no more than a note in code is not told of an example."""
    return [one.told for document in read.documents.values() for one in _findings(run, document, read.project)]


def renewed(read: Reading) -> Reading:
    """The documents, read again where something else in them was changed."""
    changed = {
        path: _read(file.source)
        for path, file in read.project.manifests.items()
        if path in read.documents and file.source.text != read.documents[path].source.text
    }
    return dataclasses.replace(read, documents={**read.documents, **changed}) if changed else read


def fixed(run: Run, read: Reading, made: Fixed, *, unsafe: bool) -> tuple[Reading, Fixed]:
    """What would be read, and was fixed, with the examples of documents: all of one document, or none."""
    shown: dict[str, Document] = {}
    applied = dict(made.applied)
    dropped: list[Dropped] = [*made.dropped]
    for path, document in read.documents.items():
        result = _fixed(run, read, document, unsafe=unsafe)
        if isinstance(result, Dropped):
            dropped.append(result)
        elif result is not None:
            shown[path] = result[0]
            applied[path] = result[1] + applied[path] if path in applied else result[1]
    if not shown:
        return read, dataclasses.replace(made, dropped=tuple(dropped))
    beside = [manifests.read(document.source) for path, document in shown.items() if path in read.project.manifests]
    project = read.project.with_manifests(beside) if beside else read.project
    read = dataclasses.replace(read, project=project, documents={**read.documents, **shown})
    texts = {**made.texts, **{path: document.source.text for path, document in shown.items()}}
    return read, dataclasses.replace(made, project=project, applied=applied, texts=texts, dropped=tuple(dropped))


def _read(source: Source) -> Document:
    return Document(source, tuple(documents.examples(source)))


def _project(document: Document, code: Project, without: Iterable[str] = ()) -> Project:
    """The examples of a document as a project, which asks for what the code around it asks for."""
    facts = [facts_of(example.source) for example in document.examples if example.source.path not in without]
    return Project.link(facts, manifests=code.manifests, outside=frozenset(code.manifests))


def _findings(run: Run, document: Document, code: Project) -> list[_Found]:
    project = _project(document, code)
    examples = {example.source.path: example for example in document.examples}
    found = [_as_shown(run.alone(finding, project, _NO_PLACE), run) for finding in run.found(project) if _matters(finding)]
    told = [
        dataclasses.replace(
            finding,
            path=document.source.path,
            span=examples[finding.path].span(finding.span),
            message=f"{finding.message}, in an example",
            severity=Severity.NOTE,
            fact=None,
            document=True,
        )
        for finding in found
    ]
    # The worst of those that are told is true of all: either all examples of a document are rewritten, or none.
    is_open = run.sieve.open
    heard = is_open(document.source, told)
    worst = min(heard, key=lambda finding: finding.applicability, default=None)
    return [_Found(one, other if worst is None else _at_most(other, worst, document)) for one, other in zip(found, told, strict=True)]


def _as_shown(finding: Finding, run: Run) -> Finding:
    """The finding, left to a human where its fix takes out what code can do without: an example shows it."""
    idle = run.entries[finding.rule].hints.get("idle")
    return dataclasses.replace(finding, applicability=_MANUAL, hint=_SHOWN) if idle and finding.hint == idle else finding


def _at_most(finding: Finding, worst: Finding, document: Document) -> Finding:
    """The finding, as far as it can be fixed while another one of its document is not."""
    if finding.applicability <= worst.applicability:
        return finding
    line = document.source.position(worst.span.start).line
    hint = f"{_BUT} {worst.rule} in line {line}: `fix --docs` rewrites all examples of a document or none"
    return dataclasses.replace(finding, applicability=worst.applicability, hint=hint)


def _matters(finding: Finding) -> bool:
    """Whether an example is worse for it.

    It is not for what is a note in code, for what is installed with it or lies beside it, nor for what may stand elsewhere in the program
    that it is a part of.
    """
    fact = finding.fact
    if isinstance(fact, Import) and str(fact.key).startswith("mcp_"):
        return False
    return finding.severity > Severity.NOTE and not isinstance(fact, Borrowed | Dispatcher | Requirement)


def _fixed(run: Run, read: Reading, document: Document, *, unsafe: bool) -> tuple[Document, Counter[str]] | Dropped | None:
    """A document as it would be, with the number of fixes of each rule; or why it stays as it is, if anything is found in it."""
    found = _findings(run, document, read.project)
    is_open = run.sieve.open
    wanted = is_open(document.source, [one.told for one in found])
    if not wanted:
        return None
    threshold = Applicability.UNSAFE if unsafe else Applicability.SAFE
    if wanted[0].applicability < threshold:
        worst = min(wanted, key=lambda finding: (finding.hint.startswith(_BUT), finding.span))
        return _dropped(document, worst, _lack(worst))
    # What is silenced stays as it is, and so does all that belongs to it.
    silenced = {one.inner.path for one in found if one.told not in wanted}
    made = run.fix_alone(_project(document, read.project, silenced), _NO_PLACE, unsafe=unsafe)
    left = [finding for finding in made.remaining if _matters(finding)]
    if left:
        there = next((one.told for one in found if one.told.rule == left[0].rule), wanted[0])
        return _dropped(document, there, left[0].hint or "its fix could not be made")
    try:
        new = _written(document, made.texts)
    except Unwritable as error:
        return _dropped(document, wanted[0], str(error))
    # Code can do without an import that nothing uses, but an example shows it.
    unused = {example.blocks[0].first: len(example.unused) for example in new.examples}
    if any(unused.get(example.blocks[0].first, 0) < len(example.unused) for example in document.examples):
        return _dropped(document, wanted[0], _SHOWN)
    return (new, sum(made.applied.values(), start=Counter())) if made.texts else None


def _written(document: Document, texts: Mapping[str, str]) -> Document:
    """The document with the new texts of its examples. Raises Unwritable."""
    source = document.source
    changed = [example for example in document.examples if example.source.path in texts]
    wanted = [edit for example in changed for edit in example.edits(texts[example.source.path])]
    new = dataclasses.replace(source, text=edits.apply(source.utf8, wanted).decode("utf-8"))
    meant = {block.first: code for example in changed for block, code in example.codes(texts[example.source.path])}
    expected = [meant.get(block.first, block.code) for block in documents.blocks(source)]
    if [block.code for block in documents.blocks(new)] != expected:
        raise Unwritable("the example would be read in another way than it was written")
    return _read(new)


def _lack(finding: Finding) -> str:
    """Why a finding is not fixed."""
    if finding.applicability is not _MANUAL:
        return "its fix needs --unsafe-fixes"
    return finding.hint if finding.hint in (_NO_PLACE, _SHOWN) else "it has no safe fix"


def _dropped(document: Document, finding: Finding, reason: str) -> Dropped:
    line = document.source.position(finding.span.start).line
    return Dropped(finding.rule, document.source.path, finding.span, f"{finding.rule} in line {line}: {reason}")
