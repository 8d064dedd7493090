"""Laws of transcripts for any bytes: their lines, what other programs left, what is asked of them.

Promises: bytes are read as those of a file; nothing stays on the disk.
"""

from __future__ import annotations

import atexit
import io
import tempfile
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Final

from engramdown.episodes.memory import EpisodicMemory
from engramdown.importers.importer import (
    Importer,
    event_line,
    message_line,
    recognised,
    sources,
)
from engramdown.importers.inputs import Elements, Input, Lines, Opened, is_one_value
from engramdown.importers.records import Conversation, Record, Skipped
from engramdown.recall.lines import BROKEN, Line, microseconds, read_lines
from engramdown.recall.query import MOST_TERMS, Mode, nameless, read_query
from engramdown.settings import EpisodeSettings
from engramdown.transcripts.episode import ROLES, Episode, read_line, write_line
from engramdown.transcripts.visibility import repeats_memory
from tests.episodes import transcripts

__all__ = ["importers", "importing", "indexed", "lines", "query"]

_NOW: Final = datetime(2026, 2, 27, 10, 15, tzinfo=UTC)
_END: Final = ord("\n")
_MODES: Final[tuple[Mode, ...]] = ("best", "exact")
_SPEAKERS: Final = ("Ada", "ben", "Zoë O'Hara", "日本", "the user", "")
_SAID: Final = (
    "Did we book the boat to Zürich? It's on 2026-03-01.",
    'She said "never on a Friday", and I quote: \\o/ /etc/passwd',
    "日本語を勉強しています。 ΣΊΣΥΦΟΣ straße STRASSE İstanbul",
    "Traceback (most recent call last):\n  KeyError: 'x'\n\u2028\x85\x1c end",
    "flags \U0001f1e9\U0001f1ea family \U0001f469\u200d\U0001f467 half e\u0301 \x00",
    "100% NOT (a OR b) AND c* near:5 ^d 'single' {e}",
)


def lines(data: bytes) -> None:
    """A line is an episode or none, for whoever reads it; an episode can be written again."""
    for fast, start, end in _cut(data):
        line = data[start:end]
        slow = read_line(line)
        assert (slow is None) == (fast.role == BROKEN)
        if slow is None:
            continue
        assert (fast.seq, fast.ts, fast.text) == (slow.seq, microseconds(slow.ts), slow.text)
        role = "memory_read" if repeats_memory(slow) else slow.role
        assert (ROLES[fast.role], fast.name) == (role, slow.name)
        written = write_line(slow)
        assert written.endswith(b"\n")
        assert written.count(b"\n") == 1
        again = read_line(written)
        assert again is not None
        assert again._replace(more={}, meta={}) == slow._replace(more={}, meta={})
        assert write_line(again) == written


def _cut(data: bytes) -> list[tuple[Line, int, int]]:
    found = list(read_lines(data))
    starts = [line.start for line in found]
    assert starts == [0, *(at + 1 for at, byte in enumerate(data) if byte == _END)][: len(found)]
    assert len(found) == data.count(b"\n")
    ends = [*starts[1:], data.rfind(b"\n") + 1]
    return [*zip(found, starts, ends, strict=True)] if found else []


def importers(data: bytes) -> None:
    """Every reader makes of a file what can be written, or says why not."""
    records = []
    stream = Opened("fuzz", io.BytesIO(data))
    one_value = is_one_value(stream)
    for reading in (Elements, Lines) if one_value else (Lines,):
        for found in reading(Opened("fuzz", io.BytesIO(data))):
            assert isinstance(found, Record) or found.reason
            records += [found] if isinstance(found, Record) else []
    recognised(record.value for record in records)
    settings = EpisodeSettings()
    for source in sources().values():
        known = set()
        for item in source.read(records):
            if isinstance(item, Skipped):
                assert item.reason
                continue
            if isinstance(item, Conversation):
                known.add(item.key)
                event_line("start", item.at or _NOW, {"title": item.title}, item.meta)
                continue
            assert item.key in known
            line = message_line(item, item.at or _NOW, settings)
            again = read_line(b'{"seq":1,' + line.line)
            assert again is not None
            assert again.id == line.id


def importing(data: bytes) -> None:
    """A file is imported as far as it is understood, and again it brings nothing."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        given = Input("fuzz.json", len(data), _NOW, lambda: io.BytesIO(data))
        importer = Importer(Path(folder, "episodes"), EpisodeSettings())
        first = importer.run([given])
        wanted = {brought.session for file in first.files for brought in file.sessions}
        memory = EpisodicMemory(folder, EpisodeSettings())
        assert wanted <= {info.id for info in memory.sessions()}
        for name in wanted:
            assert not memory.session(name).malformed
        before = _bytes(Path(folder))
        second = importer.run([given])
        assert all(brought.new == 0 for file in second.files for brought in file.sessions)
        assert _bytes(Path(folder)) == before
        memory.close()


def _bytes(folder: Path) -> dict[str, bytes]:
    files = (folder / "episodes").glob("*.jsonl")
    return {path.name: path.read_bytes() for path in files}


def indexed(data: bytes) -> None:
    """Whatever stands in a transcript, recall answers, and answers the same without an index."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        path = Path(folder, "episodes", "fuzz.jsonl")
        path.parent.mkdir()
        path.write_bytes(data)
        answers = []
        for _ in range(2):
            memory = EpisodicMemory(folder, EpisodeSettings())
            memory.sessions()
            memory.session("fuzz")
            asked = [memory.recall(word, mode=mode) for word in ("boat", "a") for mode in _MODES]
            answers.append([list(hits) for hits in asked])
            memory.close()
            for name in Path(folder, "cache").glob("*"):
                name.unlink()
        assert answers[0] == answers[1]
        said = _said(data)
        if all(each.role != "event" for each in said):
            # No line was taken out of recall.
            assert len(answers[0][1]) == min(
                sum("boat" in each.text.casefold() for each in said), 20
            )


def _said(data: bytes) -> list[Episode]:
    """Return the lines of a transcript that are no echo of memory."""
    found = filter(None, map(read_line, data.split(b"\n")[:-1]))
    return [each for each in found if each.role != "memory_read" and not repeats_memory(each)]


def query(data: bytes) -> None:
    """Any question is answered; the exact string is found in every line that holds it."""
    text = data.decode("utf-8", "surrogateescape")
    read = read_query(text, _SPEAKERS, _NOW)
    assert len(read.terms) <= MOST_TERMS
    assert all(term.words and len(term.words) == len(term.stems) for term in read.terms)
    assert read_query(text, _SPEAKERS, _NOW) == read
    nameless(text, _SPEAKERS)
    memory = _library()
    assert len(memory.recall(text, limit=3)) <= 3
    wanted = text.casefold()
    holding = [at for at, said in enumerate(_SAID, 1) if wanted in said.casefold()]
    hits = memory.recall(text, limit=10, mode="exact")
    assert sorted(hit.seq for hit in hits) == (holding if text else [])


@cache
def _library() -> EpisodicMemory:
    """Return transcripts of a few lines, for as long as the process runs."""
    folder = tempfile.TemporaryDirectory(prefix="fuzz-")
    atexit.register(folder.cleanup)
    path = Path(folder.name, "episodes", "s.jsonl")
    path.parent.mkdir()
    path.write_bytes(b"".join(transcripts.line(at, text) for at, text in enumerate(_SAID, 1)))
    return EpisodicMemory(folder.name, EpisodeSettings())
