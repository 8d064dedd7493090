"""How fast recall is at ten thousand, a hundred thousand and a million episodes.

The yardstick is what SQLite does without us: an FTS5 table of the same texts (porter, unicode61),
asked for any of the words that recall looks for, in all their forms, ranked by BM25. The names of
speakers are among them: recall asks where these speak. Both are asked the same questions in turn:
*warm* again and again, *fresh* after one more line was recorded. To *append* is the whole call of
``log``, and the next look into the index without the question; for the yardstick it is an insert
and a commit. A line scan in Python stands beside them.

The episodes are turns of LoCoMo, said again and again with a sixth of their words replaced
(``--data PATH``, default ``../shared/data``; the originals: snap-research/LoCoMo). ``--sizes``
takes other numbers of episodes, ``--save`` also writes the plot ``docs/recall-speed.svg``.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from benchmarks.measure import finish, ms, table
from benchmarks.plots import Curve, log_log
from engramdown.episodes.memory import EpisodicMemory
from engramdown.language.terms import spelt
from engramdown.language.words import STOP_WORDS
from engramdown.recall.query import read_query
from engramdown.transcripts.episode import Episode, stamp, write_line

__all__ = ["main"]

ROOT: Final = Path(__file__).resolve().parent.parent
FILE: Final = "locomo_tuning_half.jsonl"
QUESTIONS: Final = 200
COLD: Final = 7
APPENDS: Final = 50
SCANS: Final = 3
START: Final = datetime(2020, 1, 1, tzinfo=UTC)

COLD_SUBJECT: Final = """
import sys, time
from pathlib import Path
from engramdown.episodes.memory import EpisodicMemory
memory = EpisodicMemory(Path(sys.argv[1]))
assert memory.recall(sys.argv[2])
memory.close()
"""
COLD_YARDSTICK: Final = """
import sqlite3, sys
asked = "SELECT rowid FROM said WHERE said MATCH ? ORDER BY rank LIMIT 20"
assert sqlite3.connect(sys.argv[1]).execute(asked, (sys.argv[2],)).fetchall()
"""


class Measured(NamedTuple):
    """What one number of episodes took; seconds, bytes.

    The yardstick's come second.
    """

    size: int
    warm: tuple[float, float]
    slow: tuple[float, float]
    fresh: tuple[float, float]
    cold: tuple[float, float]
    append: tuple[float, float]
    build: tuple[float, float]
    stored: tuple[int, int]
    transcripts: int
    memory: int
    scan: float


def main() -> None:
    """Measure every size, print the table and, if asked, save it with a plot."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--save", action="store_true")
    given = parser.parse_args()
    if not (given.data / FILE).exists():
        sys.exit(f"{given.data / FILE} is not there; --data PATH says where it is.")
    chats = [json.loads(line) for line in (given.data / FILE).open(encoding="utf-8")]
    measured = []
    for size in given.sizes:
        with tempfile.TemporaryDirectory() as folder:
            measured.append(_measure(Path(folder), size, chats))
    finish("recall_speed", _report(measured))
    if given.save:
        _plot(measured, ROOT / "docs" / "recall-speed.svg")


# ---- the episodes ----


def _sessions(chats: Sequence[Any], size: int) -> Iterator[list[tuple[str, str]]]:
    """Yield sessions of ``size`` turns in all; the same for the same size."""
    dice = random.Random(1)
    known: list[list[tuple[str, str]]] = []
    for chat in chats:
        by_number = itertools.groupby(chat["episodes"], key=lambda episode: episode["session"])
        known += [[(each["speaker"], each["text"]) for each in turns] for _, turns in by_number]
    pool = [word for session in known for _, text in session for word in text.split()]

    def said_again(text: str) -> str:
        words = text.split()
        for at in range(len(words)):
            die = dice.random()
            if die < 0.15:  # noqa: PLR2004 - a share
                words[at] = dice.choice(pool)
            elif die < 0.17:  # noqa: PLR2004 - a share
                words[at] = f"w{dice.randrange(10**6):x}"
        return " ".join(words)

    for session in itertools.cycle(known):
        if size <= 0:
            return
        yield [(speaker, said_again(text)) for speaker, text in session[:size]]
        size -= len(session)


def _write(folder: Path, sessions: Iterator[list[tuple[str, str]]]) -> None:
    folder.mkdir(parents=True)
    dice = random.Random(2)
    for count, turns in enumerate(sessions):
        name = f"s{count:06d}"
        began = START + timedelta(minutes=37 * count)
        lines = [_line(0, began, dice, role="event", event="start", session=name)]
        for seq, (speaker, text) in enumerate(turns, 1):
            role = "user" if seq % 2 else "assistant"
            at = began + timedelta(seconds=20 * seq)
            lines.append(_line(seq, at, dice, role=role, text=text, name=speaker))
        (folder / f"{name}.jsonl").write_bytes(b"".join(lines))


def _line(seq: int, at: datetime, dice: random.Random, **said: str) -> bytes:
    more = {"v": 1, "session": said.pop("session")} if "session" in said else {}
    name = f"{dice.getrandbits(80):020x}"[:16]
    return write_line(Episode(seq=seq, ts=stamp(at), id=name, more=more, **said))  # type: ignore[arg-type] # all are strings


# ---- the yardstick ----


def _plain_index(path: Path, folder: Path) -> float:
    """Build the plain FTS5 table from the same files; return the seconds it took."""
    began = time.perf_counter()
    database = sqlite3.connect(path)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = NORMAL")
    database.execute(
        "CREATE VIRTUAL TABLE said USING fts5(text, content='', tokenize='porter unicode61')"
    )
    texts = (
        (json.loads(line)["text"],)
        for file in sorted(folder.iterdir())
        for line in file.read_bytes().split(b"\n")[1:-1]
    )
    database.executemany("INSERT INTO said(text) VALUES (?)", texts)
    database.commit()
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    return time.perf_counter() - began


def _any_word(question: str) -> str:
    """Return a query for any of the words that recall looks for."""
    forms = (word for term in read_query(question).terms for word in term.words)
    return " OR ".join(f'"{" ".join(spelt(word))}"' for word in forms) or '"nothing"'


# ---- measuring ----


def _measure(root: Path, size: int, chats: Sequence[Any]) -> Measured:
    folder, plain = root / "episodes", root / "plain.sqlite"
    _write(folder, _sessions(chats, size))
    transcripts = sum(path.stat().st_size for path in folder.iterdir())
    dice = random.Random(3)
    questions = [question["text"] for chat in chats for question in chat["questions"]]
    questions = dice.sample(questions, QUESTIONS)
    plain_build = _plain_index(plain, folder)
    with closing(EpisodicMemory(root)) as memory, closing(sqlite3.connect(plain)) as database:
        began = time.perf_counter()
        memory.recall(questions[0])
        build = time.perf_counter() - began
        stored = ((root / "cache" / "index.sqlite").stat().st_size, plain.stat().st_size)
        warm, slow = _warm(memory, database, questions)
        append, fresh = _append(memory, database, folder, questions)
    return Measured(
        size,
        warm,
        slow,
        fresh,
        _cold(root, plain, questions),
        append,
        (build, plain_build),
        stored,
        transcripts,
        resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024,
        _scan(folder, questions),
    )


def _warm(
    memory: EpisodicMemory, database: sqlite3.Connection, questions: Sequence[str]
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the median and the 95th percentile of recall and of the yardstick."""
    ours, theirs = [], []
    for question in questions:
        words = _any_word(question)
        ours.append(_seconds(partial(memory.recall, question)))
        theirs.append(_seconds(partial(_fetch, database, words)))
    middle = (statistics.median(ours), statistics.median(theirs))
    return middle, (_late(ours), _late(theirs))


def _fetch(database: sqlite3.Connection, words: str) -> list[Any]:
    asked = "SELECT rowid FROM said WHERE said MATCH ? ORDER BY rank LIMIT 20"
    return database.execute(asked, (words,)).fetchall()


def _late(times: Sequence[float]) -> float:
    return sorted(times)[int(len(times) * 0.95)]


def _append(
    memory: EpisodicMemory, database: sqlite3.Connection, folder: Path, questions: Sequence[str]
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return what it takes to record a line, and then to be asked a question, for both."""
    appended: tuple[list[float], list[float]] = ([], [])
    asked: tuple[list[float], list[float]] = ([], [])
    newest = max(folder.iterdir()).stem
    upkeep = memory._recalling().index  # noqa: SLF001 - the look at the files by itself

    def insert(text: str) -> None:
        database.execute("INSERT INTO said(text) VALUES (?)", (text,))
        database.commit()

    for number, question in enumerate(questions[: 2 * APPENDS]):
        text = f"another turn about the boat {number}"
        ours = _seconds(partial(memory.log, newest, "user", text))
        theirs = _seconds(partial(insert, text))
        if number % 2:
            asked[0].append(_seconds(partial(memory.recall, question)))
            asked[1].append(_seconds(partial(_fetch, database, _any_word(question))))
            continue
        looked = _seconds(lambda: upkeep.ask(lambda _: None))
        looked -= _seconds(lambda: upkeep.ask(lambda _: None))
        appended[0].append(ours + looked)
        appended[1].append(theirs)
    middle = statistics.median
    return (middle(appended[0]), middle(appended[1])), (middle(asked[0]), middle(asked[1]))


def _cold(root: Path, plain: Path, questions: Sequence[str]) -> tuple[float, float]:
    """Return what a fresh process takes beyond a bare Python."""
    ours, theirs = [], []
    for question in questions[:COLD]:
        bare = _process("pass")
        ours.append(_process(COLD_SUBJECT, str(root), question) - bare)
        theirs.append(_process(COLD_YARDSTICK, str(plain), _any_word(question)) - bare)
    return statistics.median(ours), statistics.median(theirs)


def _process(program: str, *arguments: str) -> float:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", program, *arguments]
    return _seconds(lambda: subprocess.run(command, check=True, env=env))


def _scan(folder: Path, questions: Sequence[str]) -> float:
    """Return what it takes to look for the words of a question in every line."""

    def look(question: str) -> int:
        words = [word for word in question.lower().split() if word not in STOP_WORDS]
        return sum(
            any(word in text for word in words)
            for file in folder.iterdir()
            for line in file.read_bytes().split(b"\n")[:-1]
            for text in [json.loads(line)["text"].lower()]
        )

    return statistics.median(_seconds(partial(look, each)) for each in questions[:SCANS])


def _seconds(function: Any) -> float:  # noqa: ANN401 - what it returns is of no interest
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


# ---- telling ----


def _report(measured: Sequence[Measured]) -> str:
    rows: list[tuple[str, ...]] = [("episodes", "what", "recall", "plain FTS5", "ratio")]
    for each in measured:
        pairs = (
            ("warm, median, ms", each.warm),
            ("warm, 95th percentile, ms", each.slow),
            ("fresh, median, ms", each.fresh),
            ("fresh process beyond bare Python, ms", each.cold),
            ("append: record and index one line, ms", each.append),
        )
        rows += [_row(each.size, what, ours, theirs, ms) for what, (ours, theirs) in pairs]
        speed = (each.size / each.build[0], each.size / each.build[1])
        rows.append(_row(each.size, "rebuild, lines a second", *speed, "{:,.0f}".format))
        share = (each.stored[0] / each.transcripts, each.stored[1] / each.transcripts)
        rows.append(_row(each.size, "index, share of the transcripts", *share, "{:.2f}".format))
        rows.append((f"{each.size:,}", "line scan, ms", ms(each.scan), "", ""))
        megabytes = f"{each.memory / 1e6:.0f}"
        rows.append((f"{each.size:,}", "memory of a fresh process, MB", megabytes, "", ""))
    note = f"{QUESTIONS} questions, each asked of both in turn; recall with its look at the files."
    return f"{table(rows)}\n\n{note}{_exponent(measured)}"


def _row(size: int, what: str, ours: float, theirs: float, shown: Any) -> tuple[str, ...]:  # noqa: ANN401 - a format
    return (f"{size:,}", what, shown(ours), shown(theirs), f"{ours / theirs:.2f}")


def _exponent(measured: Sequence[Measured]) -> str:
    if len(measured) < 2:  # noqa: PLR2004 - a line has two ends
        return ""
    from math import log

    first, last = measured[0], measured[-1]
    steps = log(last.size / first.size)
    ours, theirs = (log(last.warm[at] / first.warm[at]) / steps for at in range(2))
    return f" Time grows as episodes^{ours:.2f} (plain FTS5: ^{theirs:.2f})."


def _plot(measured: Sequence[Measured], path: Path) -> None:
    sizes = [each.size for each in measured]
    curves = [
        Curve("line scan", sizes, [each.scan * 1000 for each in measured]),
        Curve("plain FTS5, any word", sizes, [each.warm[1] * 1000 for each in measured]),
        Curve("recall", sizes, [each.warm[0] * 1000 for each in measured]),
    ]
    path.write_text(log_log(curves, "episodes", "milliseconds, warm"), encoding="utf-8")


if __name__ == "__main__":
    main()
