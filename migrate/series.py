"""A fix as a series of stages, one for each group of rules, each of which can be parsed and, as far as that can be told, imported.

The last stage is what the fix has made, to the byte. What cannot be taken apart, or would not be sound for itself, comes whole.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from . import needed
from .accept import Acceptance
from .bystanders import Bystanders
from .catalog import Catalog
from .engine import Fixed, Step
from .facts.mask import parse
from .facts.model import FileFacts
from .pieces import Pieces
from .project import Project, read
from .rewrite import edits
from .rewrite.tree import Tree, Unwritable
from .rule import Either, Group, Import
from .source import Source

_DERIVED = 0  # the author of imports that were added or taken away: they follow from the rest
_LOADED = 0  # the group of what runs when a module is loaded, since half of that runs with no release of the SDK


class Stage(NamedTuple):
    """What one commit holds. `texts` has every file that is not as it was a stage before; None stands for what it is in the end."""

    group: Group
    texts: Mapping[str, str | None]
    applied: Mapping[str, Counter[str]]  # path -> rule id -> fixes made


def stages(
    start: Project, fixed: Fixed, catalog: Catalog, *, changed: Collection[str], whole: Collection[str], beside: Iterable[str]
) -> list[Stage]:
    """The stages of a fix that are not empty, in order.

    `changed` are the paths of all files that it changes or makes, `whole` those that cannot be taken apart; `beside` are the paths
    of files that are no part of the project.
    """
    return list(_Series(start, fixed, catalog, [*changed], frozenset(whole), tuple(beside)).run())


@dataclass
class _File:
    """A file that a fix has changed, taken apart. The group of a piece of work is that of the latest rule that it hangs together with."""

    before: FileFacts
    pieces: Pieces
    rules: dict[int, str] = field(default_factory=dict)  # by author
    imports: dict[int, frozenset[Import | Either]] = field(default_factory=dict)
    groups: dict[int, int] = field(default_factory=dict)
    is_loaded: bool = False  # whether what runs when it is loaded goes from one release of the SDK to the next

    def authors(self, stage: int) -> frozenset[int]:
        return frozenset(author for author, group in self.groups.items() if group <= stage)


class _Series:
    def __init__(
        self, start: Project, fixed: Fixed, catalog: Catalog, changed: list[str], whole: frozenset[str], beside: tuple[str, ...]
    ) -> None:
        self.start, self.fixed, self.catalog, self.changed, self.beside = start, fixed, catalog, changed, beside
        self.acceptance = Acceptance(Bystanders(tuple))
        steps: defaultdict[str, list[Step]] = defaultdict(list)
        for step in fixed.steps:
            steps[step.path].append(step)
        self.files: dict[str, _File] = {}
        self.undivided: dict[str, int] = {}  # the stage of each file that comes whole
        for path in changed:
            if path in start.files and steps[path]:
                file = self._taken_apart(start.files[path], steps[path])
                if file is not None and path not in whole:
                    self.files[path] = file
                else:
                    self.undivided[path] = self._stage_of(path, steps[path])
            elif path in start.manifests and path not in start.files:
                self.undivided[path] = max(map(catalog.group_of, fixed.applied.get(path, {})), default=self.last)
            elif path not in fixed.created and (path not in start.files or path not in fixed.texts):
                # A module without a word of the protocol, which has lost what only deleted code used; or there are marks in it.
                self.undivided[path] = self.latest
        # Modules that rules have written as a whole are there from when they are wanted.
        self.written = [path for path in changed if path not in self.files and path not in self.undivided]

    @cached_property
    def last(self) -> int:
        return len(self.catalog.groups) - 1

    @cached_property
    def latest(self) -> int:
        """The last group of code: what was swept away goes with it."""
        rules = {made.rule for step in self.fixed.steps for made in step.made} - {""}
        return max(map(self.catalog.group_of, rules), default=self.last)

    def run(self) -> Iterator[Stage]:
        texts: dict[str, str | None] = {path: self.start.files[path].source.text for path in self.files}
        done: dict[str, frozenset[int]] = {path: frozenset() for path in self.files}
        there: set[str] = set()
        for number, group in enumerate(self.catalog.groups):
            new, authors = self._settled(number, texts, done)
            stage: dict[str, str | None] = {path: new[path] for path in self.files if new[path] != texts[path]}
            applied = {
                path: Counter(rule for author in authors[path] - done[path] if (rule := self.files[path].rules[author]))
                for path in self.files
            }
            for path, at in self.undivided.items():
                if at == number:
                    stage[path] = None
                    applied[path] = Counter(self.fixed.applied.get(path, {}))
            texts, done = new, authors
            wanted = self._wanted(number, texts) - there
            there |= wanted
            stage.update(dict.fromkeys(wanted))
            if stage:
                yield Stage(group, stage, {path: count for path, count in applied.items() if count and path in stage})

    # What a file was made of

    def _taken_apart(self, before: FileFacts, steps: Iterable[Step]) -> _File | None:
        """None where what was done cannot be told apart."""
        file = _File(before, Pieces(before.source.utf8))
        loaded: set[int] = set()
        author = _DERIVED
        for step in steps:
            if file.pieces.text != step.before.utf8:
                return None
            is_idle = _idle(step.before)
            owners: dict[edits.Edit, int] = {}
            for made in step.made:
                author += 1
                file.rules[author], file.imports[author] = made.rule, made.imports
                for edit in made.edits:
                    if edit in owners:
                        file.pieces.link(owners[edit], author)
                    owners.setdefault(edit, author)
                if self._is_of_sdk(made.rule) and not all(is_idle(edit.span.start) for edit in made.edits):
                    loaded.add(author)
            file.pieces.edit((edit.span, edit.text.encode("utf-8"), owner) for edit, owner in owners.items())
            file.pieces.become(step.after.utf8, _DERIVED)
        leaders: defaultdict[int, list[int]] = defaultdict(list)
        for one in file.rules:
            leaders[file.pieces.leader(one)].append(one)
        if file.pieces.leader(_DERIVED) in leaders:
            return None
        highest = max((self.catalog.group_of(rule) for rule in file.rules.values() if rule), default=self.latest)
        for members in leaders.values():
            group = max(self.catalog.group_of(file.rules[one]) if file.rules[one] else highest for one in members)
            file.groups.update(dict.fromkeys(members, _LOADED if loaded.intersection(members) else group))
        file.is_loaded = bool(loaded)
        return file

    def _is_of_sdk(self, rule: str) -> bool:
        entry = self.catalog.rule(rule)
        return entry is not None and entry.is_of_sdk

    def _stage_of(self, path: str, steps: Iterable[Step]) -> int:
        """When a file comes that comes whole: with what is loaded, or with the latest of its rules."""
        made = [one for step in steps for one in step.made if one.rule]
        loaded = any(self._is_of_sdk(one.rule) for one in made)
        return _LOADED if loaded else max((self.catalog.group_of(one.rule) for one in made), default=self.latest)

    # What a stage is made of

    def _settled(
        self, stage: int, before: Mapping[str, str | None], done: Mapping[str, frozenset[int]]
    ) -> tuple[dict[str, str | None], dict[str, frozenset[int]]]:
        """The texts of a stage, and whose work they hold; a file that would not be sound stays as it was a stage before."""
        texts = {**before}
        authors = {**done}
        for path, file in self.files.items():
            wanted = file.authors(stage)
            if wanted != done[path]:
                text = None if len(wanted) == len(file.groups) else self._text(file, wanted)
                if text != "":
                    texts[path], authors[path] = text, wanted
        # In the end everything is as the fix has left it, so nothing is unsound there.
        late = {path for path, file in self.files.items() if authors[path] != file.authors(stage)}
        while stage < self.last:
            if any(self.files[path].is_loaded for path in late):
                late |= {path for path, file in self.files.items() if file.is_loaded}
            for path in late:
                texts[path], authors[path] = before[path], done[path]
            if not (more := self._torn(texts) - late):
                break
            late |= more
        if stage == self.last:
            texts, authors = dict.fromkeys(self.files), {path: frozenset(file.groups) for path, file in self.files.items()}
        return texts, authors

    def _text(self, file: _File, authors: Collection[int]) -> str:
        """The text of a file with the work of some; "" where it would not be sound."""
        source = replace(file.before.source, text=file.pieces.with_work_of(authors).decode("utf-8"))
        needs = {need for author in authors for need in file.imports[author]}
        try:
            source = needed.with_needs(source, needs, self.fixed.project, self.beside)
            source = needed.without_unused(file.before.source, source, self.acceptance.names)
            return "" if self.acceptance.objection(file.before, Tree(source), ()) else source.text
        except (Unwritable, RecursionError, ValueError):
            return ""

    def _read(self, path: str, text: str | None) -> FileFacts:
        if text is None:
            return self.fixed.project.files[path]
        file = self.start.files[path]
        return file if text == file.source.text else read(replace(file.source, text=text))

    def _torn(self, texts: Mapping[str, str | None]) -> set[str]:
        """Files that would import what another one does not have at this stage, with those others."""
        held = {path: self._read(path, text) for path, text in texts.items()}
        torn: set[str] = set()
        for path, file in held.items():
            ends = (self.start.files[path], self.fixed.project.files[path])
            bound = self.acceptance.names(file.source).bound
            lacking = {f"{file.module}.{name}" for end in ends for name in self.acceptance.names(end.source).bound - bound}
            importers = {*self.start.importers(path), *self.fixed.project.importers(path)} if lacking else set()
            for importer in importers:
                facts = held.get(importer) or self.start.files.get(importer)
                if facts is not None and not lacking.isdisjoint(facts.imports.values()):
                    torn |= {path, importer} & self.files.keys()
        return torn

    def _wanted(self, stage: int, texts: Mapping[str, str | None]) -> set[str]:
        """The modules that a stage needs: those that files import as they are then; all of them in the end."""
        if stage == self.last or not self.written:
            return {*self.written}
        project = self.fixed.project.replace(self._read(path, text) for path, text in texts.items())
        touched = {path for path, text in texts.items() if text != self.start.files[path].source.text}
        touched |= {path for path, at in self.undivided.items() if at <= stage}
        return {path for path in self.written if touched.intersection(project.importers(path))}


def _idle(source: Source) -> Callable[[int], bool]:
    """Tells of an offset whether it lies in code that does not run when the module is loaded: in functions that nothing calls then."""
    tree = parse(source)[0]
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    by_name: defaultdict[str, list[ast.FunctionDef | ast.AsyncFunctionDef]] = defaultdict(list)
    for function in functions:
        by_name[function.name].append(function)
    run: set[str] = set()
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            todo += [*getattr(node, "decorator_list", ()), node.args]
            continue
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id not in run:
            run.add(node.func.id)
            todo += [statement for function in by_name[node.func.id] for statement in function.body]
        todo += ast.iter_child_nodes(node)
    bodies = [(function.body[0], function.body[-1]) for function in functions if function.name not in run]
    spans = [
        (source.offset(first.lineno, first.col_offset), source.offset(last.end_lineno or last.lineno, last.end_col_offset or 0))
        for first, last in bodies
    ]
    return lambda offset: any(start <= offset <= end for start, end in spans)
