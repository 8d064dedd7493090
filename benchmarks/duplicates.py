"""How many duplicates are found without a model, and how many pairs that only look alike are.

Each pair is a store of two lessons that is tidied. "Ours, by itself" is what goes without a
question; "ours" is all that the plan would let go, most of it only after a person said yes to it.
The yardsticks take a pair for one memory from a similarity on; theirs is the threshold with the
best F1 on the tuning half, where a conflict counts like any other pair. Whoever wrote a set knew
the code, but for the first of the other author, so take the figures for an upper bound. The
yardstick of the time is ``str.split`` of the same memories.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from datetime import date
from difflib import SequenceMatcher
from typing import Final

from benchmarks.measure import finish, ms, paired, table
from engramdown.consolidation.compaction import tidy
from engramdown.consolidation.plan_rules import is_safe, judge
from engramdown.engram import fold
from engramdown.hippocampus.entry import Entry
from tests.corpora.duplicates import CORPORA, Pair, corpus

__all__ = ["main"]

RUNS: Final = 5
MANY: Final = 1000
TODAY: Final = date(2026, 3, 1)
NAMES: Final = {
    "latest": "latest",
    "last": "last",
    "held_out": "held out",
    "seen": "seen",
    "tuning": "tuned on",
    "tuning_second": "tuned on, of another author",
    "tuning_third": "tuned on, of that author",
    "tuning_fourth": "tuned on, of that author again",
    "free": "tuned on, free paraphrases",
    "hard": "tuned on, the smallest conflicts",
}
REPORTED: Final = ("latest", "last", "held_out")

Same = Callable[[str, str], bool]
Likeness = Callable[[str, str], float]


def main() -> None:
    """Count, time and print."""
    ways = {
        "the same words": lambda a, b: fold(a) == fold(b),
        **_from("difflib ratio", _ratio),
        **_from("token set", _token_set),
        "ours, by itself": by_itself,
        "ours": planned,
    }
    head = ("duplicates found by", "duplicates found", "conflicts merged", "unrelated merged")
    tables = []
    for name in CORPORA:
        pairs = corpus(name)
        rows = [_row(way, same, pairs) for way, same in ways.items()]
        tables.append(f"{len(pairs)} pairs, {NAMES[name]}:\n\n{table([head, *rows])}")
    finish("duplicates", "\n\n".join([*tables, _missed(), _speed()]))


def planned(a: str, b: str) -> bool:
    """Whether a plan lets one of two lessons go."""
    lessons = [_lesson("a", a), _lesson("b", b)]
    return bool(judge(tidy(lessons, TODAY), lessons, TODAY).apply)


def by_itself(a: str, b: str) -> bool:
    """Whether one of two lessons goes without a question."""
    lessons = [_lesson("a", a), _lesson("b", b)]
    known = {lesson.id: lesson for lesson in lessons}
    apply = judge(tidy(lessons, TODAY), lessons, TODAY).apply
    return any(is_safe(operation, known, TODAY) for operation in apply)


def _lesson(name: str, text: str) -> Entry:
    return Entry(
        id=name, text=text, kind="lesson", scope="project", confidence="medium", source="llm",
        basis="inferred", ts="2026-02-27", file="lessons.md",
    )  # fmt: skip


def _from(name: str, likeness: Likeness) -> dict[str, Same]:
    """Return a yardstick with the threshold that is best for the tuning half."""
    pairs = corpus("tuning")
    best = max((step / 100 for step in range(30, 101)), key=lambda at: _f1(likeness, at, pairs))
    return {f"{name}, from {best:.2f} on": lambda a, b: likeness(a, b) >= best}


def _f1(likeness: Likeness, threshold: float, pairs: Sequence[Pair]) -> float:
    found = [pair.label == "same" for pair in pairs if likeness(pair.a, pair.b) >= threshold]
    return 2 * sum(found) / (len(found) + sum(pair.label == "same" for pair in pairs))


def _ratio(a: str, b: str) -> float:
    return SequenceMatcher(None, fold(a), fold(b)).ratio()


def _token_set(a: str, b: str) -> float:
    """Return the share of words in common, in whatever order."""
    one, other = set(fold(a).split()), set(fold(b).split())
    return len(one & other) / len(one | other)


def _row(way: str, same: Same, pairs: Sequence[Pair]) -> tuple[str, ...]:
    return (way, *(_count(same, pairs, label) for label in ("same", "conflict", "other")))


def _count(same: Same, pairs: Sequence[Pair], label: str) -> str:
    those = [pair for pair in pairs if pair.label == label]
    return f"{sum(same(pair.a, pair.b) for pair in those)} of {len(those)}"


def _missed() -> str:
    """Return which kinds of duplicates are missed, and how many of each."""
    pairs = [pair for name in REPORTED for pair in corpus(name) if pair.label == "same"]
    rows = [("duplicates, not tuned on", "pairs", "found", "by itself")]
    for what in sorted({pair.what for pair in pairs}):
        those = [(pair.a, pair.b) for pair in pairs if pair.what == what]
        found = str(sum(planned(*pair) for pair in those))
        rows.append((what, str(len(those)), found, str(sum(by_itself(*pair) for pair in those))))
    return table(rows)


def _speed() -> str:
    dice = random.Random(4)
    texts = [text for name in CORPORA for pair in corpus(name) for text in pair[2:]]
    # Other lessons in every run, because what was read of a text is kept for a while.
    stores = [
        [_lesson(str(at), "; ".join(dice.sample(texts, 2))) for at in range(MANY)]
        for _ in range(RUNS + 1)
    ]
    left, lessons = iter(stores), stores[0]
    base, subject, ratio = paired(
        lambda: [lesson.text.split() for lesson in lessons], lambda: tidy(next(left), TODAY), RUNS
    )
    rows = [("what", "ms", "yardstick ms", "ratio")]
    rows.append((f"`tidy` of {MANY} lessons", ms(subject), ms(base), f"{ratio:.0f}"))
    length = sum(len(lesson.text) for lesson in lessons) / MANY
    return f"{table(rows)}\n\nMedians of {RUNS} pairs; a lesson has {length:.0f} characters."


if __name__ == "__main__":
    main()
