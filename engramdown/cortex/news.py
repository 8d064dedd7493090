"""What the steps of a journal mean to a person who watches: what was learned, changed, forgotten.

Promises: pure; what several steps did to one memory in a row is told once, and what they undid
among themselves not at all; secrets are redacted; whatever a person saved is told somehow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import Final, Literal, NamedTuple

from engramdown.hippocampus import placement
from engramdown.hippocampus.entry import entry_id
from engramdown.hippocampus.history import Change, Step
from engramdown.kinds import ARCHIVE, ASIDE, PENDING
from engramdown.markdown.document import parse
from engramdown.markdown.metadata import is_address
from engramdown.secrets.redaction import redact

__all__ = ["Deed", "News", "edited", "news_of"]

Deed = Literal[
    "learned",
    "changed",
    "moved",
    "forgot",
    "restored",
    "approved",
    "declined",
    "asked",
    "edited",
    "watching",
    "trouble",
    "mended",
    "remark",
]
_HAND: Final = frozenset({"edit", "found", "checkout", "meanwhile", "late"})
_BACK: Final = frozenset({"restore", "undo"})
_PAIRS: Final = 2_500
"""How many pairs of lines are looked at to see whether one was made of the other."""
_ELSEWHERE: Final = "into the other scope"
_Key = tuple[str, str]
"""A file and the id of an entry."""


class News(NamedTuple):
    """One thing that happened to memory, or that keeps it from being looked at.

    Attributes:
        what: ``learned``, ``changed``, ``moved`` (to another file), ``forgot``, ``restored``; of a
            proposal ``asked``, ``approved``, ``declined``; of what is no memory ``edited``; of
            what is watched
            ``watching``, ``trouble``, ``mended`` and ``remark``.
        text: The memory, the proposal, or what is wrong.
        before: What it said before, if that was something else.
        by: Who: ``user``, ``llm``, ``consolidation``, ``person`` for a hand edit, ``git``,
            ``engramdown``, or ``""`` for a file that somebody brought.
        scope: ``project`` or ``global``.
        file: The file, relative to the memory folder.
        line: Where it stands there now, from 1; 0 if it does not.
        id: The id of the memory or the proposal.
        step: The id of the step in the journal.
        at: When, in UTC, ISO 8601.
        kind: The kind of a memory that stands: ``always``, ``never``, ``when``, ``lesson`` or
            ``profile``; else ``""``.
        comments: The private comments inside its lines, as they stand; they are not part of it.
    """

    what: Deed
    text: str = ""
    before: str = ""
    by: str = ""
    scope: str = ""
    file: str = ""
    line: int = 0
    id: str = ""
    step: str = ""
    at: str = ""
    kind: str = ""
    comments: str = ""


class _Net(NamedTuple):
    """What some steps did to one entry of one file, all in all; a tick is no part of its text."""

    step: Step
    before: str
    after: str
    is_ticked: bool = False
    comments: str = ""

    @property
    def text(self) -> str:
        return self.after or self.before


_Nets = dict[_Key, _Net]


def news_of(steps: Iterable[Step], scope: str) -> Iterator[News]:
    """Yield what ``steps``, the oldest first, did to the memory of a scope; lines are all 0."""
    for group in _groups(steps):
        nets = _nets(group)
        for item in (*_told(group[0].op, nets), *_edited(group, nets)):
            yield item._replace(scope=scope)


def edited(item: News) -> News:
    """Return that the file was edited about which ``item`` tells more than is so."""
    return item._replace(what="edited", text="", before="", line=0, id="", comments="")


def _groups(steps: Iterable[Step]) -> Iterator[list[Step]]:
    """Yield steps that belong together: hand edits with what follows from them, or one step."""
    group: list[Step] = []
    for step in steps:
        if group and not _goes_on(group[-1], step):
            yield group
            group = []
        group.append(step)
    if group:
        yield group


def _goes_on(last: Step, step: Step) -> bool:
    return last.op in _HAND and (step.op in _HAND or step.op == "notice")


def _told(op: str, nets: _Nets) -> Iterator[News]:
    memories = {key: net for key, net in nets.items() if key[0] not in ASIDE}
    proposals = {key: net for key, net in nets.items() if key[0] == PENDING}
    if op == "accept":
        yield from _accepted(memories, proposals)
    else:
        yield from _memories(memories)
        yield from _proposals(proposals)


def _edited(group: Sequence[Step], nets: _Nets) -> Iterator[News]:
    """Yield what a person saved in which no memory says anything else."""
    told = {key[0] for key, net in nets.items() if net.before != net.after} - {ARCHIVE}
    # One who ticks a line is told what comes of it.
    told |= {key[0] for key in nets if key[0] == PENDING}
    for step in group:
        for file in step.files if step.op in _HAND else ():
            if file not in told:
                yield News("edited", by=_who(step), file=file, step=step.id, at=step.at)


def _nets(group: Sequence[Step]) -> _Nets:
    """Return what ``group`` did to each entry, by file and id."""
    found: _Nets = {}
    for step in group:
        for change in _changes(step):
            key = (change.file, change.id)
            _, old, gone = _said(change.before)
            before = found[key].before if key in found else old
            first = found[key].step if key in found else step
            tick, after, comments = _said(change.after)
            beside = comments if after else gone
            found[key] = _Net(first, before, after, bool(tick.strip()), beside)
    return _reworded(found)


def _reworded(nets: _Nets) -> _Nets:
    """Return ``nets`` with lines without an id that were changed as such, not as gone and new."""
    hand = {key: net for key, net in nets.items() if is_address(key[1])}
    gone = {(key[0], net.before): key for key, net in hand.items() if not net.after}
    come = {key: net for key, net in hand.items() if not net.before}
    if len(gone) * len(come) > _PAIRS:
        return nets
    found = dict(nets)
    for key, net in come.items():
        here = [text for file, text in gone if file == key[0]]
        for before in get_close_matches(net.after, here, n=1):
            del found[gone.pop((key[0], before))]
            found[key] = net._replace(before=before)
    return found


def _changes(step: Step) -> Iterable[Change]:
    """Return the changes of a step; of files that it brought, their entries."""
    if step.op != "found":
        return [change for change in step.changes if not change.erased]
    return [
        Change(entry_id(placed), part.file, None, placed.block.raw)
        for part in step.parts
        for placed in placement.raw_entries(part.file, parse(part.new))
    ]


def _said(raw: str | None) -> tuple[str, str, str]:
    """Return the tick and the text of an entry, and the comments inside it; of none ``""``."""
    placed = parse(raw or "").placed()
    if not placed:
        return "", "", ""
    return *placement.split_task(placed[0].block.text), placed[0].block.comments


def _memories(nets: _Nets) -> Iterator[News]:
    gone = {key[1]: net for key, net in nets.items() if not net.after}
    come = {key[1] for key, net in nets.items() if not net.before}
    told: set[tuple[str, str]] = set()
    for key, net in sorted(nets.items(), key=_topics_last):
        if key[1] in come and key[1] in gone:
            # It went from one file to another.
            what: Deed = "moved"
            if not net.after:
                continue
        elif not net.before:
            what = "restored" if net.step.op in _BACK else "learned"
        else:
            what = "changed" if net.after else "forgot"
        # A lesson of a topic stands in two files.
        if net.before != net.after and (what, key[1]) not in told:
            told.add((what, key[1]))
            yield _news(what, key, net)


def _topics_last(item: tuple[_Key, _Net]) -> bool:
    return item[0][0].startswith("topics/")


def _proposals(nets: _Nets) -> Iterator[News]:
    for key, net in nets.items():
        if net.before == net.after:
            continue  # ticked, or moved about
        if not net.before:
            # One who writes a line and ticks it asks nobody.
            if not net.is_ticked:
                yield _news("asked", key, net)
        elif net.after:
            yield _news("changed", key, net)
        elif net.step.op == "decline" or net.step.by == "person":
            yield _news("declined", key, net)


def _accepted(memories: _Nets, proposals: _Nets) -> Iterator[News]:
    written = [(key, net) for key, net in memories.items() if net.after]
    # A lesson of a topic stands in two files; of what one line brought about, one thing is told.
    first: dict[str, tuple[_Key, _Net]] = {}
    for key, net in sorted(written, key=_topics_last):
        first.setdefault(key[1] if len(proposals) > 1 else "", (key, net))
    for key, net in first.values():
        yield _news("approved", key, net)
    if not written:
        yield from _memories(memories)
    if not memories:
        for key, net in proposals.items():
            if not net.step.why.endswith(_ELSEWHERE):
                yield _news("approved", key, net)


def _news(what: Deed, key: _Key, net: _Net) -> News:
    step, (file, entry_id) = net.step, key
    before = redact(net.before) if net.after and net.before != net.after else ""
    text = redact(net.text)
    news = News(what, text, before, _who(step), "", file, 0, entry_id, step.id, step.at)
    return news._replace(comments=redact(net.comments))


def _who(step: Step) -> str:
    return {"checkout": "git", "found": ""}.get(step.op, step.by)
