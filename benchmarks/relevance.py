"""What a context brings for a message: the lesson among 2,000, the session that holds the answer.

    python -m benchmarks.relevance DATA_FOLDER

The folder holds ``sessions.jsonl`` (``sessions``, each a list of who said what; a ``question``; the
place of the ``session`` with the answer, and what the answer ``must`` say), and ``lessons.jsonl``
with ``lesson_questions.jsonl``, see :mod:`benchmarks.lessons`. All is remembered and recorded as a
program does it, sessions a day apart, and the question is the message that begins a turn. What is
looked at is the part of the context that depends on the message; *in any part* also counts the
lessons that a section shows which is full.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from benchmarks.lessons import SHARES
from benchmarks.measure import finish, records, table
from engramdown import Cortex, MemoryContext
from engramdown.context.sections import Section
from engramdown.transcripts.episode import Episode, Role, stamp, write_line

__all__ = ["main"]

BEGAN: Final = datetime(2026, 1, 5, 9, tzinfo=UTC)


def main() -> None:
    """Print how often a context brings what answers its message."""
    if len(sys.argv) < 2:  # noqa: PLR2004 - a folder
        sys.exit("usage: python -m benchmarks.relevance DATA_FOLDER")
    folder = Path(sys.argv[1])
    finish("relevance", f"{_sessions(folder)}\n\n{_lessons(folder)}")


def _sessions(folder: Path) -> str:
    """Return how often the session that holds the answer is brought."""
    judged: list[tuple[float, ...]] = []
    for case in records(folder / "sessions.jsonl"):
        with _opened() as (cortex, home):
            _record(home, case["sessions"])
            part = _relevant(cortex.build_memory_context(case["question"]))
        said = part.text.casefold()
        answered = [
            any(word.casefold() in said for word in must.split("|")) for must in case["must"]
        ]
        best = next((row for row in part.text.split("\n") if row.startswith("> ")), "")
        judged.append(
            (
                best.startswith(f"> s{case['session']}#"),
                f"s{case['session']}#" in part.text,
                all(answered),
                part.tokens,
            )
        )
    head = ("questions", "its session first", "among those brought", "answer in it", "tokens")
    first, among, answers, tokens = map(fmean, zip(*judged, strict=True))
    row = (str(len(judged)), f"{first:.2f}", f"{among:.2f}", f"{answers:.2f}", f"{tokens:.0f}")
    return table([head, row])


def _lessons(folder: Path) -> str:
    """Return how often the lesson is brought that answers, by what the question shares with it."""
    brought: dict[str, list[tuple[bool, bool]]] = {share: [] for share in SHARES}
    tokens = []
    with _opened() as (cortex, home):
        texts = _remember(home / "memory", records(folder / "lessons.jsonl"))
        for each in records(folder / "lesson_questions.jsonl"):
            context = cortex.build_memory_context(each["question"])
            part = _relevant(context)
            wanted = {texts[one] for one in each["ids"]}
            everything = {entry.text for section in context.sections for entry in section.shown}
            found = not wanted.isdisjoint(entry.text for entry in part.shown)
            for share in (each["share"], "all"):
                brought[share].append((found, not wanted.isdisjoint(everything)))
            tokens.append(float(part.tokens))
    rows: list[tuple[str, ...]] = [("lessons among 2,000", *SHARES)]
    for at, name in enumerate(("in the part for the message", "in any part")):
        shares = (f"{fmean(one[at] for one in brought[share]):.2f}" for share in SHARES)
        rows.append((name, *shares))
    return f"{table(rows)}\n\nThe part for the message has {fmean(tokens):.0f} tokens."


@contextmanager
def _opened() -> Iterator[tuple[Cortex, Path]]:
    """Open an empty memory; the path is that of the project's."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "project", ".engramdown")
        (home / "memory").mkdir(parents=True)
        yield Cortex.open(project=home.parent, home=Path(folder, "home")), home


def _relevant(context: MemoryContext) -> Section:
    nothing = Section("relevant", "", 0, 0)
    return next((each for each in context.sections if each.name == "relevant"), nothing)


def _record(home: Path, sessions: list[list[tuple[Role, str]]]) -> None:
    """Write transcripts, a day apart."""
    (home / "episodes").mkdir()
    for number, said in enumerate(sessions):
        began, name = BEGAN + timedelta(days=number), f"s{number}"
        more = {"v": 1, "session": name}
        start = Episode(seq=0, ts=stamp(began), id="0" * 16, role="event", event="start", more=more)
        lines = [write_line(start)]
        for seq, (role, text) in enumerate(said, 1):
            at = stamp(began + timedelta(seconds=20 * seq))
            lines.append(
                write_line(Episode(seq=seq, ts=at, id=f"{number:08}{seq:08}", role=role, text=text))
            )
        (home / "episodes" / f"{name}.jsonl").write_bytes(b"".join(lines))


def _remember(memory: Path, lessons: list[Any]) -> dict[int, str]:
    """Write memories of all kinds; return their texts by their numbers."""
    pages = dict.fromkeys(("always", "never", "when", "lesson"), "")
    for each in lessons:
        kind = each["kind"] if each["kind"] in pages else "lesson"
        # A rule that always holds is always shown, as long as there is room for it.
        pages[kind] += f"- {each['text']}\n"
    rules = "".join(f"\n## {kind.capitalize()}\n\n{pages[kind]}" for kind in list(pages)[:3])
    (memory / "rules.md").write_text(f"# Rules\n{rules}", encoding="utf-8")
    (memory / "lessons.md").write_text(f"# Lessons\n\n{pages['lesson']}", encoding="utf-8")
    return {each["id"]: each["text"] for each in lessons}


if __name__ == "__main__":
    main()
