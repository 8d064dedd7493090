"""The fault campaign, from the command line: ``python -m tests.crash --seconds 600``.

Promises: the time is shared between the experiments; the seed is printed first, so that a run can
be repeated; ends with 1 if a promise was violated, and says how to see it again.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path
from typing import Final

from tests.crash.campaign import EXPERIMENTS, Outcome, carry_out

_LONGEST: Final = 400
"""How many characters of a violation the table's reader is shown at once."""


def main(arguments: list[str] | None = None) -> int:
    """Run the campaign and return the exit code."""
    said = _parser().parse_args(arguments)
    seed = random.SystemRandom().randrange(2**32) if said.seed is None else said.seed
    names = said.only or list(EXPERIMENTS)
    _say(f"seed {seed}, {said.seconds:g} s for {len(names)} experiments")
    _say(f"{'experiment':<28}{'promise':>8}{'cases':>10}{'violations':>12}{'seconds':>9}")
    shares = sum(EXPERIMENTS[name].share for name in names)
    outcomes = []
    with tempfile.TemporaryDirectory(prefix="campaign-") as folder:
        for name in names:
            seconds = said.seconds * EXPERIMENTS[name].share / shares
            outcomes.append(
                carry_out(name, Path(folder) / name, seed, seconds=seconds, tell=_complain)
            )
            _say(_row(outcomes[-1]))
    broken = [outcome.name for outcome in outcomes if outcome.wrong]
    if broken:
        command = f"python -m tests.crash --seed {seed} --seconds {said.seconds:g}"
        _say(f"Violated. To see it again: {command} --only {' '.join(broken)}")
    return 1 if broken else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.crash", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0, help="for all of it (600)")
    parser.add_argument("--seed", type=int, help="repeat a run")
    parser.add_argument(
        "--only", nargs="+", choices=list(EXPERIMENTS), metavar="NAME", help=", ".join(EXPERIMENTS)
    )
    return parser


def _row(outcome: Outcome) -> str:
    promise = EXPERIMENTS[outcome.name].promise
    all_of_it = "  all there is" if outcome.finished else ""
    if outcome.missing:
        all_of_it = f"  nothing was tried: {outcome.missing}"
    return (
        f"{outcome.name:<28}{promise:>8}{outcome.cases:>10,}{len(outcome.wrong):>12,}"
        f"{outcome.seconds:>9.1f}{all_of_it}"
    )


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _complain(text: str) -> None:
    lines = text.strip().split("\n")
    # Of a traceback the end says what happened.
    shown = text if len(text) <= _LONGEST else "\n".join([lines[0][:_LONGEST], *lines[-6:]])
    sys.stderr.write(f"VIOLATED {shown}\n")


if __name__ == "__main__":
    sys.exit(main())
