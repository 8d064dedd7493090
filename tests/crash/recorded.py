"""A small folder of transcripts, what can be done to it, and what must hold afterwards.

Promises: as :mod:`tests.crash.scopes` for memory: what is done is told by an error or is there
whole; :meth:`Recorded.verify` raises an :class:`AssertionError` that says what is wrong.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engramdown.episodes.card import CardFiles, ModelCard
from engramdown.episodes.memory import EpisodicMemory
from engramdown.errors import StoreError
from engramdown.importers.importer import Importer
from engramdown.importers.inputs import find_inputs
from engramdown.settings import EpisodeSettings
from engramdown.storage.disk import Disk
from engramdown.transcripts.episode import read_line
from engramdown.transcripts.sessions import SessionInfo
from engramdown.transcripts.visibility import excluded
from tests.importers.shop import claude_line, write_lines

_LONG: Final = "a line of output\n" * 300
_OTHER: Final = "another line of it\n" * 300
_ADDED: Final = "egret afterwards"
_FOUND: Final = "heron standing alone"
_KNOWN: Final = re.compile(
    r"episodes/(\.lock|\.gitignore|[\w-]+\.jsonl|payloads/[0-9a-f]{2}/[0-9a-f]{62}\.txt)"
    r"|episodes/imports/(\.lock|ledger\.jsonl)"
    r"|gists/[\w-]+(\.card\.md|\.jsonl)|inbox/a\.jsonl"
    r"|cache/(written|\.gitignore|index\.(sqlite|seal|lock)|index\.sqlite-(wal|shm))"
)
"""The files that somebody needs."""
_NAMED: Final = re.compile(r"-[0-9a-f]{12}$")
"""What the name of an imported session has of the file that it came from."""
_TROUBLE: Final = re.compile(r"episodes/degraded-[0-9]+\.json")

Said = dict[str, list[tuple[str, str]]]
"""What stands in each session: role or event, and the whole text."""


@dataclass(frozen=True, slots=True)
class Recording:
    """Something that is done to transcripts.

    Attributes:
        act: Does it, in the folder of a scope.
        prepare: What happens to the folder before.
        in_parts: Whether a part of it may be there if it was cut short.
        in_any_order: Whether its lines may come in another order: what had to wait comes later.
        again: Whether it can be done again, and is finished then.
    """

    act: Callable[[Path], object]
    prepare: Callable[[Path], object] = lambda _: None
    in_parts: bool = False
    in_any_order: bool = False
    again: bool = False


class Recorded:
    """One recording, and what the folder looks like before and after."""

    def __init__(self, folder: Path, name: str) -> None:
        """Make transcripts below ``folder`` and carry out the operation on a copy."""
        self._recording = RECORDINGS[name]
        self._master = folder / "before"
        _build(self._master)
        self._recording.prepare(self._master)
        after = folder / "after"
        self.copy(after)
        self._recording.act(after)
        self._before, self._after = _said(self._master), _said(after)
        if self._recording.in_any_order:
            for said in (self._before, self._after):
                said |= {session: sorted(lines) for session, lines in said.items()}
        self._pages = _pages(self._master), _pages(after)

    def copy(self, root: Path) -> None:
        """Make a fresh copy at ``root``."""
        shutil.copytree(self._master, root)

    def verify(self, root: Path, *, done: bool) -> None:
        """Check a copy on which the operation was cut short.

        Args:
            root: The copy.
            done: Whether the operation was acknowledged.
        """
        _check_lines(root)
        for path in root.rglob("*.part"):
            # A file that somebody makes is left alone for a minute.
            os.utime(path, (1, 1))
        _tidy(root)
        self._check(root, done=done)
        if self._recording.again and not done:
            self._recording.act(root)
            self._check(root, done=True)
        _check_goes_on(root)
        _check_strays(root, done=done)
        _check_texts(root)
        before = _files(root)
        _tidy(root)
        assert _files(root) == before, "a second look changes something"

    def _check(self, root: Path, *, done: bool) -> None:
        now = _said(root)
        if self._recording.in_any_order:
            now = {session: sorted(lines) for session, lines in now.items()}
        if done:
            assert now == self._after, (
                f"acknowledged, and not there: {_difference(self._after, now)}"
            )
        elif self._recording.in_parts:
            _check_between(self._before, self._after, now)
        else:
            assert now in (self._before, self._after), _difference(self._before, now)
        allowed = self._pages[1:] if done else self._pages
        if done or not self._recording.in_parts:
            assert _pages(root) in allowed, f"pages: {_pages(root)}"


def _check_lines(root: Path) -> None:
    for path in (root / "episodes").glob("*.jsonl"):
        data = path.read_bytes()
        assert not data or data.endswith(b"\n"), f"{path.name} is torn"
        assert all(read_line(line) for line in data.split(b"\n")[:-1]), f"{path.name} is broken"


def _check_between(before: Said, after: Said, now: Said) -> None:
    """Check that of what comes some is there, in its order, and all that was there before."""
    assert now.keys() <= before.keys() | after.keys(), f"stranger: {now.keys()}"
    for session in before.keys() | after.keys():
        left = iter(after.get(session, []))
        assert all(line in left for line in now.get(session, [])), f"{session}: {now[session]}"
        kept = iter(now.get(session, []))
        assert all(line in kept for line in before.get(session, [])), f"{session}: a line is gone"


def _check_goes_on(root: Path) -> None:
    """Check that a line can be recorded, and that it and what was said are found."""
    memory = opened(root)
    try:
        pointer = memory.log("alder", "user", _ADDED)
        assert pointer is not None, f"recording is broken: {memory.trouble}"
        for info in memory.sessions():
            transcript = memory.session(info.id)
            episodes = transcript.episodes
            assert transcript.malformed == (), f"{info.id} has broken lines"
            assert [each.seq for each in episodes] == [*range(len(episodes))], f"{info.id}: a gap"
            assert len({each.id for each in episodes}) == len(episodes), f"{info.id}: doubled"
            whole, hidden = excluded(episodes)
            for each in episodes:
                if each.role == "user" and each.text and not whole and each.seq not in hidden:
                    found = [hit.pointer for hit in memory.recall(each.text, 50)]
                    assert (info.id, each.seq) in found, f"recall does not find {each.text!r}"
    finally:
        memory.close()


def _check_strays(root: Path, *, done: bool) -> None:
    names = [name for name in _files(root) if not _KNOWN.fullmatch(name)]
    # A process that could not write says so to others, until doctor tells a person.
    strays = [name for name in names if done or not _TROUBLE.fullmatch(name)]
    assert strays == [], f"stray files: {strays}"


def _check_texts(root: Path) -> None:
    used = {
        each.payload
        for path in (root / "episodes").glob("*.jsonl")
        for line in path.read_bytes().split(b"\n")
        if (each := read_line(line)) is not None
    }
    texts = {path.parent.name + path.stem for path in (root / "episodes/payloads").rglob("*.txt")}
    assert texts <= used, "the whole of a text is kept that no line shows"


def opened(root: Path) -> EpisodicMemory:
    """Return what records there, so that a power cut is survived."""
    return EpisodicMemory(root, EpisodeSettings(durability="full"))


def _tidy(root: Path) -> None:
    memory = opened(root)
    memory.tidy()
    assert memory.trouble is None, f"tidying: {memory.trouble}"
    memory.close()


def _said(root: Path) -> Said:
    memory = opened(root)
    try:
        return {
            _NAMED.sub("", info.id): [
                (each.event or each.role, memory.whole(each))
                for each in memory.session(info.id).episodes
                if memory.whole(each) != _ADDED
            ]
            for info in _spoken(memory)
        }
    finally:
        memory.close()


def _spoken(memory: EpisodicMemory) -> list[SessionInfo]:
    """Return the sessions but those that only began and ended: an end that waited leaves one."""
    return [info for info in memory.sessions() if info.lines > 1 or not info.ended]


def _pages(root: Path) -> dict[str, tuple[str, str]]:
    memory = opened(root)
    cards = {info.id: memory.card(info.id) for info in _spoken(memory)}
    memory.close()
    return {_NAMED.sub("", name): (it.one_liner, it.paragraph) for name, it in cards.items()}


def _files(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def _difference(wanted: Said, now: Said) -> str:
    return " and ".join(
        f"{session}: {[line[0] for line in wanted.get(session, [])]} "
        f"is now {[line[0] for line in now.get(session, [])]}"
        for session in wanted.keys() | now.keys()
        if wanted.get(session) != now.get(session)
    )


def _build(root: Path) -> None:
    memory = opened(root)
    memory.start_session("birch", title="Trees")
    memory.log("birch", "user", "crane on the roof")
    memory.log("birch", "tool_result", _OTHER)
    memory.log("birch", "user", "crane is still there")
    memory.end("birch")
    memory.start_session("alder", title="Birds")
    memory.log("alder", "user", _FOUND)
    memory.log("alder", "tool_call", "ls")
    memory.log("alder", "tool_result", _LONG)
    memory.log("alder", "assistant", "it flew away")
    memory.recall("heron")
    memory.close()
    CardFiles(root, Disk()).create("birch", "# Trees\n\n## Paragraph\n\nA page by hand.\n")


def _logs(*lines: tuple[str, str]) -> Callable[[Path], None]:
    """Return what records lines, and fails if one of them cannot be written."""

    def act(root: Path) -> None:
        memory = opened(root)
        for role, text in lines:
            memory.log("alder", role, text)
        _finish(memory)

    return act


def _finish(memory: EpisodicMemory) -> None:
    memory.close()
    if memory.trouble is not None:
        raise StoreError(memory.trouble.reason)


def _first(root: Path) -> None:
    memory = opened(root)
    memory.start_session("alder")
    memory.log("alder", "user", "the first line")
    _finish(memory)


def _end(root: Path) -> None:
    memory = opened(root)
    memory.end("alder")
    _finish(memory)


def _end_bare(root: Path) -> None:
    memory = opened(root)
    memory.end("cedar")
    _finish(memory)


def _start_bare(root: Path) -> None:
    memory = opened(root)
    memory.start_session("cedar")
    memory.close()


def _empty(root: Path) -> None:
    shutil.rmtree(root)
    root.mkdir()


def _fork(root: Path) -> None:
    """Record in a child process, and around it in its parent."""
    memory = opened(root)
    memory.log("alder", "user", "before the fork")
    child = os.fork()
    if not child:
        memory.log("alder", "user", "in the child")
        memory.close()
        os._exit(memory.trouble is not None)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    memory.log("alder", "user", "behind the fork")
    _finish(memory)
    if code:
        raise StoreError(f"{root}: the child ended with {code}")


def _redact(root: Path) -> None:
    opened(root).forgetting().redact("alder", [1, 3])


def _purge(root: Path) -> None:
    opened(root).forgetting().purge("birch")


def _exclude(root: Path) -> None:
    opened(root).forgetting().exclude("alder", [4])


def _fill(root: Path) -> None:
    memory = opened(root)
    said = ModelCard("2026-02-27T10:00:00.000000Z", "m", title="Birds", one_liner="Herons", marks=0)
    cards = CardFiles(root, Disk())
    cards.fill(memory.session("alder"), said, memory.recorder.lock, memory.session)
    memory.close()


def _edit_card(root: Path) -> None:
    page = "# Birds\n\n## Paragraph\n\nA page by hand, too.\n"
    CardFiles(root, Disk()).create("alder", page)


def _import(root: Path) -> None:
    importer = Importer(root / "episodes", EpisodeSettings(durability="full"))
    report = importer.run(find_inputs([root / "inbox"]))
    failed = [file.error for file in report.files if file.state == "failed"]
    if failed:
        raise StoreError(f"{root}: {failed}")


def _put_in_inbox(root: Path) -> None:
    lines = [claude_line(1, "robin sings"), claude_line(2, "robin sleeps")]
    write_lines(root / "inbox/a.jsonl", lines)


def _rebuild(root: Path) -> None:
    """Ask for what is there; the index is gone, or worse."""
    memory = opened(root)
    found = memory.recall(_FOUND)
    memory.close()
    if not found:
        # A disk that cannot be read has no answer; then it must say so.
        raise StoreError(f"{root}: {found.notes}")


def _lose_index(root: Path) -> None:
    shutil.rmtree(root / "cache")


def _spoil_index(root: Path) -> None:
    path = root / "cache/index.sqlite"
    path.write_bytes(path.read_bytes()[:5000])


RECORDINGS: Final[dict[str, Recording]] = {
    "append": Recording(_logs(("user", "swan on the lake"))),
    "append-payload": Recording(_logs(("tool_result", _LONG + "more"))),
    "append-some": Recording(
        _logs(("user", "swan on the lake"), ("assistant", "seen"), ("user", "swan again")),
        in_parts=True,
    ),
    "first": Recording(_first, _empty, in_parts=True),
    "end": Recording(_end),
    "end-bare": Recording(_end_bare, _start_bare),
    "exclude": Recording(_exclude),
    "redact": Recording(_redact),
    "purge": Recording(_purge),
    "card-filled": Recording(_fill),
    "card-edited": Recording(_edit_card),
    "import": Recording(_import, _put_in_inbox, in_parts=True, again=True),
    "fork": Recording(_fork, in_parts=True, in_any_order=True),
    "index-lost": Recording(_rebuild, _lose_index),
    "index-spoilt": Recording(_rebuild, _spoil_index),
}
"""What can be done to transcripts."""
