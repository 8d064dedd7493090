"""How many secrets and orders are found, how many look-alikes are taken for one, and how fast.

The held-out texts were written in other words than those that the patterns were tuned on, and
first run when the patterns stood; "seen" were held out once, and the patterns were changed
because of them. "stranger" was written by somebody who had not seen the patterns: 117 of 130 were
found in the first run, with 2 false alarms of 130, and the patterns were changed because of it. Of
"fresh" nothing was changed: take its figure for the true one. "everyday" was written before its
author looked at the patterns: 105 of 160 at first, with 2 false alarms. "unseen", another
stranger's: 100 of 120, with 3. Both changed the patterns. All others were written by the author of
the patterns. The yardstick of the time is ``str.split`` of the same sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Literal

from benchmarks.measure import finish, paired, table
from engramdown.gate.injection import find_instruction
from engramdown.secrets.redaction import find_secrets, redact
from tests.corpora import (
    instructions_held_out,
    instructions_seen,
    instructions_tuning,
    secrets_held_out,
    secrets_marked,
    secrets_seen,
    secrets_told_held_out,
    secrets_tuning,
)
from tests.corpora.pieces import Planted

__all__ = ["main"]

RUNS: Final = 15
SECRETS: Final = {
    "held out": secrets_held_out,
    "told in prose, held out": secrets_told_held_out,
    "seen": secrets_seen,
    "tuned on": secrets_tuning,
}
MARKED: Final[
    tuple[Literal["fresh", "everyday", "unseen", "held_out", "stranger", "seen", "tuned"], ...]
] = (
    "fresh",
    "everyday",
    "unseen",
    "held_out",
    "stranger",
    "seen",
    "tuned",
)
ORDERS: Final = {
    "held out": instructions_held_out,
    "seen": instructions_seen,
    "tuned on": instructions_tuning,
}
SENTENCES: Final = [
    text for corpus in ORDERS.values() for text in corpus.HARMLESS if text.isascii()
]


def main() -> None:
    """Count, time and print."""
    rows = [("what", "found", "of", "false alarms", "of look-alikes")]
    for name, secrets in SECRETS.items():
        rows.append(_row(f"secrets, {name}", _hidden(secrets.planted()), secrets.harmless()))
    for half in MARKED:
        planted, harmless = secrets_marked.read(half)
        found = [
            each.is_hidden_by((s.start, s.end) for s in find_secrets(each.text)) for each in planted
        ]
        rows.append(_row(f"in seven languages, {half}", found, [each.text for each in harmless]))
    for name, orders in ORDERS.items():
        found = [bool(find_instruction(text)) for text in orders.ORDERS]
        rows.append(_row(f"orders, {name}", found, orders.HARMLESS, find_instruction))
    speed = [("an ordinary sentence", "µs", "yardstick µs", "ratio")]
    speed.append(_speed("`find_secrets`", find_secrets))
    speed.append(_speed("`find_instruction`", find_instruction))
    length = sum(map(len, SENTENCES)) / len(SENTENCES)
    note = f"Medians of {RUNS} pairs over {len(SENTENCES)} sentences of {length:.0f} characters."
    kinds = len({planted.kind for planted in secrets_held_out.planted()})
    scope = f"Held out are {kinds} kinds. A secret is found when redacting leaves nothing of it."
    finish("secrets", f"{table(rows)}\n\n{scope}\n\n{table(speed)}\n\n{note}")


def _hidden(corpus: Sequence[Planted]) -> list[bool]:
    return [not planted.is_left_in(redact(planted.text)) for planted in corpus]


def _row(
    name: str,
    found: Sequence[bool],
    harmless: Sequence[str],
    look: Callable[[str], object] = find_secrets,
) -> tuple[str, str, str, str, str]:
    alarms = sum(bool(look(text)) for text in harmless)
    return (name, str(sum(found)), str(len(found)), str(alarms), str(len(harmless)))


def _speed(name: str, look: Callable[[str], object]) -> tuple[str, str, str, str]:
    base, subject, ratio = paired(_over(str.split), _over(look), RUNS)
    micro = 1e6 / len(SENTENCES)
    return (name, f"{subject * micro:.1f}", f"{base * micro:.2f}", f"{ratio:.0f}")


def _over(function: Callable[[str], object]) -> Callable[[], object]:
    """Return a function that calls ``function`` with every sentence."""

    def run() -> None:
        for text in SENTENCES:
            function(text)

    return run


if __name__ == "__main__":
    main()
