"""Whose the entries of a scope are: what git brought, and nobody here wrote or touched.

Promises: pure; an entry is known by its words, under its heading and in the files of its kind, so
that one of ours which git puts under another heading is not ours there, and one which went with a
branch and is back is. What an automatic job did to a brought entry makes it nobody's own; what a
person did to it does.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from engramdown.engram import fold
from engramdown.hippocampus import placement
from engramdown.hippocampus.history import Change, Part, Step, digest
from engramdown.markdown.document import Document, Placed, parse

__all__ = ["CLONED", "Origins", "follow", "key_of", "keys_in", "page_key"]

CLONED: Final = "git had it already"
"""Why of a step that found a file: it came with a clone or a pull, not from a person here."""

_BY_GIT: Final = "checkout"
_FOUND: Final = "found"
_TICKED_BY_GIT: Final = "git"
# What a person does to a memory by a command that names it, or by saying it.
_ASKED_FOR: Final = frozenset({"encode", "update", "restore", "accept"})
_DIGITS: Final = 32
# With more to look for it is cheaper to read the file.
_MANY: Final = 256
_LINE: Final = 16


class Origins(NamedTuple):
    """Whose the entries of a scope are, up to some step of its journal.

    Attributes:
        ours: The keys of entries that stood here when git came, and were not brought by it.
        brought: The keys of entries that git brought.
        reworded: By the id of an entry, what it said before: the kind of its file, and the words.
    """

    ours: frozenset[str] = frozenset()
    brought: frozenset[str] = frozenset()
    reworded: Mapping[str, frozenset[tuple[str, str]]] = MappingProxyType({})


def follow(origins: Origins, steps: Iterable[Step], texts: Mapping[str, str]) -> Origins:
    """Return whose the entries are after ``steps``.

    Args:
        origins: Whose they were before them.
        steps: The oldest first.
        texts: What each file held before them.
    """
    trail = _Trail(origins, texts)
    for step in steps:
        trail.take(step)
    reworded = {name: frozenset(said) for name, said in trail.reworded.items()}
    return Origins(frozenset(trail.ours), frozenset(trail.brought), reworded)


def keys_in(file: str, document: Document) -> Iterator[tuple[str, Placed]]:
    """Yield the entries of a file that is no archive, each with its key."""
    if file != placement.ARCHIVE:
        for placed in placement.raw_entries(file, document):
            yield key_of(file, placed), placed


def key_of(file: str, placed: Placed) -> str:
    """Return what an entry is known by; a proposal by all of its line, tick and metadata too."""
    if file == placement.PENDING:
        return _key(file, "", placed.block.raw)
    return _key(_kind_of(file), placed.kind or placed.heading, placed.block.text)


def page_key(name: str, text: str) -> str:
    """Return what a whole file is known by, one that is no list of entries."""
    return _digest("page", name, text)


class _Trail:
    """What is known on the way through a journal."""

    def __init__(self, origins: Origins, texts: Mapping[str, str]) -> None:
        self.ours = set(origins.ours)
        self.brought = set(origins.brought)
        self.reworded = {name: set(said) for name, said in origins.reworded.items()}
        self._texts: dict[str, str] = dict(texts)
        # Files that git changed when we could not tell what they held.
        self._blurred: set[str] = set()
        # Under what stood what git brought, if all of that was seen.
        self._sections: set[str] | None = None if origins.brought else set()
        # Each file as it was read last, by its digest.
        self._read: dict[str, tuple[str, list[tuple[str, Placed]]]] = {}

    def take(self, step: Step) -> None:
        is_gits = step.op == _BY_GIT or (step.op, step.why) == (_FOUND, CLONED)
        if is_gits:
            self._settle()
        before = {part.file: self._texts.get(part.file, "") for part in step.parts}
        for part in step.parts:
            was_blurred = part.file in self._blurred
            self._apply(part, blurs=is_gits)
            if is_gits or (was_blurred and part.file not in self._blurred):
                self._bring(part.file)
        if not is_gits:
            for change in step.changes:
                self._leave(change)
            self._bring_changed(step)
        if _is_persons(step) and not is_gits:
            self._make_own(step, before)

    def _settle(self) -> None:
        """What stands when git comes is ours, unless git brought it before."""
        for file in self._texts:
            for key, placed in self._entries(file):
                self._own(key)
                for kind, words in self.reworded.pop(placement.entry_id(placed), ()):
                    self._own(_key(kind, placed.kind or placed.heading, words))

    def _apply(self, part: Part, *, blurs: bool) -> None:
        """Carry a text on; one that is not as the step says is forgotten."""
        before = self._texts.pop(part.file, None)
        text = part.begins
        if text is None and before is not None:
            text = part.forward(before)
        if text is not None and len(text) == part.size and (not blurs or _fits(text, part)):
            self._texts[part.file] = text
            self._blurred.discard(part.file)
        elif blurs:
            self._blurred.add(part.file)

    def _bring(self, file: str) -> None:
        for key, placed in self._entries(file):
            if key not in self.ours:
                self.brought.add(key)
                if self._sections is not None:
                    self._sections.add(placed.kind or placed.heading)

    def _bring_changed(self, step: Step) -> None:
        """What a tick made that came with git is no more a person's than the tick."""
        made: dict[str, set[str | None]] = {}
        for change in step.changes if step.by == _TICKED_BY_GIT else ():
            made.setdefault(change.file, set()).add(change.after)
        for file, lines in made.items():
            self.brought |= {key for key, each in self._entries(file) if each.block.raw in lines}

    def _leave(self, change: Change) -> None:
        """Take note of what was ours and is not there any more, or says something else."""
        if change.before is None or change.file in (placement.PENDING, placement.ARCHIVE):
            return
        kind = _kind_of(change.file)
        for placed in parse(change.before).placed()[:1]:
            if change.after is None:
                self._own(_key(kind, change.section, placed.block.text))
            else:
                # Under which heading it stood is seen when git comes.
                said = (kind, fold(placed.block.text))
                self.reworded.setdefault(change.id, set()).add(said)

    def _make_own(self, step: Step, before: Mapping[str, str]) -> None:
        """Let the very lines be a person's that they wrote, changed, marked or named in a command.

        Their editor may have laid out every line anew: that says nothing about any of them.
        """
        written = [change for change in step.changes if change.after is not None]
        for file in {change.file for change in written} if self.brought else ():
            theirs = [change for change in written if change.file == file]
            if self._may_be_brought(file, theirs):
                self._make_lines_own(file, theirs, before.get(file, ""), by_name=step.by == "user")

    def _make_lines_own(
        self, file: str, theirs: Sequence[Change], before: str, *, by_name: bool
    ) -> None:
        stood = {key for key, _ in keys_in(file, parse(before))}
        lines: dict[str, list[tuple[str, Placed]]] = {}
        for key, placed in self._entries(file):
            lines.setdefault(placed.block.raw, []).append((key, placed))
        for change in theirs:
            named = change.before is not None and by_name
            for key, placed in lines.get(change.after or "", ()):
                if named or key not in stood or _is_marked(change.before, placed):
                    self.brought.discard(key)

    def _may_be_brought(self, file: str, theirs: Sequence[Change]) -> bool:
        """Whether changes may be about what git brought; those of most steps are not.

        So a file need not be read again for each step that added a line to it.
        """
        if self._sections is None or file == placement.PENDING:
            return True
        texts = [
            placed.block.text for each in theirs for placed in parse(each.after or "").placed()
        ]
        many = _MANY + len(self._texts.get(file, "")) // _LINE
        if len(self._sections) * len(texts) > many or len(texts) < len(theirs):
            return True
        kind = _kind_of(file)
        return any(
            _key(kind, each, text) in self.brought for each in self._sections for text in texts
        )

    def _own(self, key: str) -> None:
        if key not in self.brought:
            self.ours.add(key)

    def _entries(self, file: str) -> list[tuple[str, Placed]]:
        text = self._texts.get(file, "")
        known = digest(text)
        if self._read.get(file, ("",))[0] != known:
            self._read[file] = (known, list(keys_in(file, parse(text))))
        return self._read[file][1]


def _is_marked(before: str | None, placed: Placed) -> bool:
    """Whether an entry that was there has other metadata now."""
    return any(old.block.meta != placed.block.meta for old in parse(before or "").placed()[:1])


def _is_persons(step: Step) -> bool:
    """Whether a step is a person's, about the very entries that it changed."""
    if step.by == "person":
        return step.op != _FOUND
    return step.by == "user" and step.op in _ASKED_FOR


def _fits(text: str, part: Part) -> bool:
    # A file that was removed has no digest.
    return digest(text) == part.target or not (text or part.target)


def _kind_of(file: str) -> str:
    """Return what the files of a kind have in common: a lesson stands in several."""
    return file if file in (placement.RULES, placement.PROFILE) else placement.LESSONS


def _key(kind: str, section: str, text: str) -> str:
    return _digest(kind, fold(section), fold(text))


def _digest(*parts: str) -> str:
    told = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
