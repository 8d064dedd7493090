"""What is known at the end of dialogs, without a model, and what of it should not be.

Give a folder with ``dialogs.jsonl`` or ``work_dialogs.jsonl``, or files of that form. A line is a
dialog: its ``category``, its ``turns`` (role and text; a role ``session`` begins another session),
what shall be known at the end (``expect``), what may be (``also``), and phrases that no memory may
hold then (``absent``). A memory fits an expectation if it has all words of ``must`` (``|`` between
those of which one will do), none of ``must_not``, and one of its ``kinds``.

Every dialog goes the public way: turns of a session, and a sleep after each. Precision is of what
is live; recall also counts what waits for a person; a dialog ends right if all is known, or waits,
and nothing wrong is live. ``--list`` prints what went wrong, for those who tune.

``benchmarks/data/held_out`` was written by somebody who had not seen the rules, and nothing was
tuned on it; ``benchmarks/data/tuned_on`` came from the same hand, and was.
"""

from __future__ import annotations

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from benchmarks.measure import finish, records, table
from engramdown import Cortex, Engram

__all__ = ["main"]

NAMES: Final = tuple(
    f"{name}.jsonl" for name in ("dialogs", "more_dialogs", "work_dialogs", "more_work_dialogs")
)
ALL: Final = "all"
HEAD: Final = (
    "category",
    "dialogs",
    "expected",
    "recall",
    "live",
    "precision",
    "stale",
    "junk",
    "right",
    "asked wrongly",
)
# "not 8080", "instead of npm": a value that is named only to be set aside
SET_ASIDE: Final = re.compile(
    r"(?:\b(?:not|no|instead of|rather than|no longer|never|statt|nicht|pas|au lieu de|en vez de|"
    r"invece di|em vez de|niet|in plaats van|non|não)|,\s*no)\s+(?:\w+\s+){0,2}[\"'`“«]?$"
)


def main() -> None:
    """Learn, count and print."""
    given = [Path(each) for each in sys.argv[1:] if not each.startswith("--")]
    files = [file for path in given for file in ([path / n for n in NAMES], [path])[path.is_file()]]
    if not files:
        sys.exit("say which folder: python -m benchmarks.learning benchmarks/data/held_out")
    finish("learning", "\n\n".join(_counted(file) for file in files if file.exists()))


def _counted(file: Path) -> str:
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for dialog in records(file):
        count = _judge(dialog, *_learned(dialog["turns"]))
        for group in (ALL, dialog["category"]):
            counts[group].update(count)
    return f"{file.stem}\n" + table([HEAD, *(_row(name, counts[name]) for name in sorted(counts))])


def _learned(turns: list[list[str]]) -> tuple[list[Engram], list[Engram]]:
    """Return what is live after a dialog, and what waits."""
    with TemporaryDirectory() as folder:
        cortex = Cortex.open(project=folder, home=f"{folder}/home")
        for is_break, part in groupby(turns, lambda turn: turn[0] == "session"):
            if is_break:
                continue
            with cortex.session() as session:
                for message, answer in _pairs(list(part)):
                    session.begin_turn(message)
                    session.end_turn(answer)
            cortex.sleep()
        live = [Engram(each.text, kind=each.kind, scope=each.scope) for each in cortex.entries()]
        return live, [proposal.engram for proposal in cortex.pending()]


def _pairs(turns: list[list[str]]) -> Iterator[tuple[str, str]]:
    for at, (role, text) in enumerate(turns):
        if role == "user":
            follows = turns[at + 1] if at + 1 < len(turns) else ["", ""]
            yield text, follows[1] if follows[0] == "assistant" else "OK."


def _judge(dialog: dict[str, Any], live: list[Engram], waits: list[Engram]) -> Counter[str]:
    expected = dialog["expect"]
    held = [any(_fits(one, each) for each in live) for one in expected]
    found = [
        is_held or any(_fits(one, each) for each in waits)
        for one, is_held in zip(expected, held, strict=True)
    ]
    verdicts = Counter(_verdict(dialog, each) for each in live)
    asked = [each for each in waits if _verdict(dialog, each) in ("stale", "junk")]
    wrong = verdicts["stale"] + verdicts["junk"]
    if "--list" in sys.argv and (wrong or not all(found) or asked):
        print(dialog["id"], [text for role, text in dialog["turns"] if role == "user"])
        print(
            *(
                f"  missed: {one}"
                for one, is_found in zip(expected, found, strict=True)
                if not is_found
            ),
            sep="\n",
        )
        print(*(f"  {_verdict(dialog, each)}: {each}" for each in (*live, *asked)), sep="\n")
    return verdicts + Counter(
        dialogs=1,
        expected=len(expected),
        found=sum(found),
        held=sum(held),
        ended_right=not wrong and all(found),
        asked_wrongly=bool(asked),
    )


def _verdict(dialog: dict[str, Any], memory: Engram) -> str:
    text = memory.text.casefold()
    if any(_is_held(phrase, text) for phrase in dialog["absent"]):
        return "stale"
    if any(_fits(one, memory) for one in dialog["expect"]):
        return "fits"
    return "allowed" if any(_fits(one, memory) for one in dialog.get("also", [])) else "junk"


def _fits(expected: dict[str, Any], memory: Engram) -> bool:
    text = memory.text.casefold()
    return (
        memory.kind in expected["kinds"]
        and all(any(_has(text, word) for word in words.split("|")) for words in expected["must"])
        and not any(_has(text, word) for word in expected.get("must_not", []))
        and not text.startswith(tuple(map(str.casefold, expected.get("must_not_start", []))))
    )


def _has(text: str, word: str) -> bool:
    """Return whether a word is in a text, a number as a whole one."""
    digit = r"(?<!\d)" if word[:1].isdigit() else "", r"(?!\d)" if word[-1:].isdigit() else ""
    return re.search(digit[0] + re.escape(word.casefold()) + digit[1], text) is not None


def _is_held(phrase: str, text: str) -> bool:
    """Return whether a text holds a phrase, and not only to set it aside."""
    found = re.finditer(rf"(?<!\w){re.escape(phrase.casefold())}(?!\w)", text)
    return any(not SET_ASIDE.search(text[: at.start()]) for at in found)


def _row(name: str, count: Counter[str]) -> tuple[str, ...]:
    judged = count["fits"] + count["stale"] + count["junk"]
    return (
        name,
        str(count["dialogs"]),
        str(count["expected"]),
        _share(count["found"], count["expected"]),
        _share(count["held"], count["expected"]),
        _share(count["fits"], judged),
        str(count["stale"]),
        str(count["junk"]),
        _share(count["ended_right"], count["dialogs"]),
        _share(count["asked_wrongly"], count["dialogs"]),
    )


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.3f}" if whole else "-"


if __name__ == "__main__":
    main()
