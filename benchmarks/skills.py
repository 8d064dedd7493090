"""What skills cost in the memory context: tokens for each, and time for all.

The yardstick for the time is reading the bytes of the same SKILL.md files. *Warm* is a process that
built a context before, as an assistant does on every turn; *cold* opens the memory anew each time.
"""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from benchmarks.context import WORDS
from benchmarks.measure import finish, ms, paired, table
from engramdown import Cortex
from engramdown.context.sections import SkillLine, line_of, procedures
from engramdown.tokens import estimate_tokens

__all__ = ["main"]

RUNS: Final = 15
SEED: Final = 20261123
# Seconds: what was written just now may be written again at once, and is not kept in mind.
SETTLE: Final = 2.1
BODY: Final = 4_000
SKILLS: Final = {
    "write-release-notes": "Write release notes from the log since the last tag. Use before a "
    "release, or when somebody asks what has changed.",
    "read-shop-logs": "Read the logs of the shop. Use when an order is missing or a payment "
    "failed.",
    "pdf-forms": "Fill in PDF forms, read their fields and merge pages. Use when the user mentions "
    "PDFs, forms or documents to be signed, even if they do not name the format.",
    "migrate-database": "Write and try a migration of the database. Use when a table changes.",
    "charts": "Make charts in the house style",
    "onboard": "Set up a new machine for this project, step by step, from an empty home folder to "
    "green tests: tools, access, settings, sample data. Use on a first day.",
    "incident": "Lead an incident: say who does what, keep the timeline, write the report after "
    "it. Use when something is down or somebody says that it is urgent.",
    "review-pull-request": "Review a pull request as this team does.",
    "spreadsheets": "Comprehensive creation, editing and analysis of spreadsheets with support for "
    "formulas, formatting, data analysis and visualisation. Use when the user needs to work with "
    "spreadsheets (.xlsx, .xlsm, .csv, .tsv) for creating new ones with formulas and formatting, "
    "reading or analysing data, modifying existing ones while preserving formulas, data analysis "
    "and visualisation, or recalculating formulas.",
    "deploy-staging": "Deploy a branch to staging, watch it for ten minutes, roll it back if "
    "errors rise. Use when the user says staging, preview or try it out.",
    "translate": "Translate texts of the shop into German and French; keeps the names of products.",
    "weekly-report": "Write the weekly report. Use on Fridays.",
}


def main() -> None:
    """Count tokens, time the section, and print both tables."""
    costs = sorted(estimate_tokens(line_of(SkillLine(*each))) for each in SKILLS.items())
    with tempfile.TemporaryDirectory() as folder:
        home, project = Path(folder, "home"), Path(folder, "project")
        rows = [("skills", "tokens of the section", "ms", "reading the files, ms", "ratio")]
        for count in (0, 12, 48):
            paths = _fill(home, count)
            time.sleep(SETTLE)
            warm = Cortex.open(project=project, home=home)
            subjects: dict[str, Callable[[], object]] = {
                "warm": lambda warm=warm: procedures(warm.told_skills()),  # type: ignore[misc]
                "cold": lambda: procedures(
                    Cortex.open(project=project, home=home).skills.readable_lines()
                ),
            }
            tokens = estimate_tokens(procedures(warm.skills.readable_lines()).text)
            for name, subject in subjects.items():
                base, seconds, ratio = paired(lambda paths=paths: _read(paths), subject, RUNS)  # type: ignore[misc]
                shown = f"{ratio:.1f}" if count else "-"
                rows.append((f"{count}, {name}", str(tokens), ms(seconds), ms(base), shown))
    note = (
        f"A line costs {costs[0]} to {costs[-1]} tokens, {statistics.median(costs):.0f} in the "
        f"median of {len(costs)}; medians of {RUNS} pairs, seed {SEED}."
    )
    finish("skills", f"{table(rows)}\n\n{note}")


def _fill(home: Path, count: int) -> list[Path]:
    dice = random.Random(SEED)
    paths = []
    for number in range(count):
        name, does = [*SKILLS.items()][number % len(SKILLS)]
        label = name if number < len(SKILLS) else f"{name}-{number}"
        steps = (" ".join(dice.choices(WORDS, k=12)) for _ in range(BODY // 80))
        body = "".join(f"{at}. {said}\n" for at, said in enumerate(steps, 1))
        page = home / "skills" / label / "SKILL.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        text = f'---\nname: {label}\ndescription: "{does}"\n---\n{body}'
        page.write_text(text, encoding="utf-8", newline="\n")
        paths.append(page)
    return paths


def _read(paths: list[Path]) -> int:
    return sum(len(path.read_bytes()) for path in paths)


if __name__ == "__main__":
    main()
