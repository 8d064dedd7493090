"""``engramdown stats``: how much is remembered, from whom and how old; what models were asked.

It counts only what a store holds now, and changes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, Final

import click

from engramdown import Cortex, Entry
from engramdown.cli import messages, output
from engramdown.cli.access import open_cortex
from engramdown.cli.commands import json_option, pass_place
from engramdown.cli.history import when
from engramdown.cli.layout import Line, line, table
from engramdown.cli.process import Place
from engramdown.cli.show import age_of
from engramdown.clock import moment, today
from engramdown.doctor import Tally, count_transcripts
from engramdown.gate import ledger_of
from engramdown.models import OUTCOMES, Sum, sums
from engramdown.sleep import slept_at
from engramdown.tokens import estimate_tokens

MODELS: Final = "calls of language models, for all projects"


def cost(asked: Mapping[str, int]) -> str:
    """Say what some calls cost.

    >>> cost({"tokens_in": 1200, "tokens_out": 80, "ms": 2340})
    '1,200 tokens in, 80 out, 2.3 s'
    """
    seconds = asked["ms"] / 1000
    return f"{asked['tokens_in']:,} tokens in, {asked['tokens_out']:,} out, {seconds:,.1f} s"


def outcome(name: str) -> str:
    """Say how calls ended.

    >>> outcome("timeout"), outcome("of a newer program")
    ('no answer in time', 'of a newer program')
    """
    return OUTCOMES.get(name, name)


def switched_off(what: Sequence[str]) -> str:
    """Say what the project switches off.

    >>> switched_off(["recording (episodes.enabled)"])
    "switched off by this project's config.toml: recording (episodes.enabled)"
    """
    return f"switched off by this project's config.toml: {', '.join(what)}"


def window(spent: Mapping[str, Any]) -> str:
    """Say what was spent lately.

    >>> window({"hours": 24.0, "calls": 3, "tokens": 4100})
    'in the last 24 hours: 3 calls, 4,100 tokens'
    """
    calls = "1 call" if spent["calls"] == 1 else f"{spent['calls']:,} calls"
    return f"in the last {spent['hours']:g} hours: {calls}, {spent['tokens']:,} tokens"


def last_sleep(at: str) -> str:
    """Say when sleep last got something done.

    >>> last_sleep("2026-03-01 10:00")
    'sleep last got a step done on 2026-03-01 10:00'
    """
    if not at:
        return "nothing was slept on yet; `engramdown sleep` learns from finished sessions"
    return f"sleep last got a step done on {at}"


def torn_lines(count: int) -> str:
    """Say that lines of the ledger cannot be read."""
    lines = "1 line of ledger.jsonl is" if count == 1 else f"{count} lines of ledger.jsonl are"
    return f"{lines} cut short and not counted"


TRANSCRIPT_TOTALS: Final = {
    "sessions": "sessions in the transcripts",
    "episodes": "episodes in them",
    "episode_bytes": "bytes of transcripts",
}


def degraded(reason: str) -> str:
    """Say that something is not being recorded.

    >>> degraded("no space")
    'Memory is degraded: no space'
    """
    return f"Memory is degraded: {reason}"


NO_DATE: Final = "without a date"
OLDER: Final = "older"
STATS_GROUPS: Final = {
    "by_file": "by file",
    "by_kind": "by kind",
    "by_source": "by source",
    "by_basis": "by how it is known",
    "by_age": "by age",
}
STATS_TOTALS: Final = {
    "pending": "waiting in pending.md",
    "archived": "retired, in archive.md",
    "context_tokens": "tokens of context",
    "history_steps": "steps in the journal",
    "history_bytes": "bytes of journal",
}


def up_to(name: str) -> str:
    """Name a class of age."""
    return f"up to {name}"


def count_title(count: int) -> str:
    """Say how many memories there are."""
    return f"{count} {'memory' if count == 1 else 'memories'}"


_TOTALS: Final = STATS_TOTALS | TRANSCRIPT_TOTALS
# Upper ends, in days.
_AGES: Final = ((7, "a week"), (30, "a month"), (365, "a year"))


@click.command()
@json_option
@pass_place
def stats(place: Place, /, *, as_json: bool) -> None:
    """Count memories by file, kind, source, basis and age; what waits; what models were asked."""
    cortex = open_cortex(place)
    counted = _count(cortex, today())
    if as_json:
        output.print_json(counted)
    else:
        output.screen().show(_lines(counted))


def _count(cortex: Cortex, now: date) -> dict[str, Any]:
    entries = cortex.entries()
    context = cortex.build_memory_context(scratchpad=True)
    recorded = sum((count_transcripts(store.root) for store in cortex.scopes.stores), Tally())
    return {
        "memories": len(entries),
        "by_scope": _by(entries, "scope"),
        "by_file": _tally(f"{entry.disk_file} ({entry.scope})" for entry in entries),
        "by_kind": _by(entries, "kind"),
        "by_source": _by(entries, "source"),
        "by_basis": _by(entries, "basis"),
        "by_confidence": _by(entries, "confidence"),
        "by_age": _by_age(entries, now),
        "pending": len(cortex.pending()),
        "archived": len(cortex.scopes.archived()),
        "context_tokens": estimate_tokens(context),
        "history_steps": sum(
            len(cortex.scopes.if_readable(store.history)) for store in cortex.scopes.stores
        ),
        "history_bytes": sum(_journal_size(store.root) for store in cortex.scopes.stores),
        "sessions": recorded.sessions,
        "episodes": recorded.episodes,
        "episode_bytes": recorded.size,
        "degraded": list(recorded.degraded),
        "switched_off": cortex.scopes.settings.stopped(),
        "slept": {store.scope: slept_at(store.root) for store in cortex.scopes.stores},
        "models": _asked(cortex),
    }


def _asked(cortex: Cortex) -> dict[str, Any]:
    """Sum the ledger of what models were asked."""
    settings = cortex.scopes.settings.consolidation
    ledger = ledger_of(cortex.scopes)
    calls, torn = ledger.known()
    recent = ledger.spent_since(settings.window_hours, moment())
    total = Sum()
    for call in calls:
        total = total.plus(call)
    return {
        **total._asdict(),
        "by_job": {name: each._asdict() for name, each in sums(calls, "job").items()},
        "by_model": {name: each._asdict() for name, each in sums(calls, "model").items()},
        "by_outcome": _tally(call.outcome for call in calls),
        "window": {"hours": settings.window_hours, **recent._asdict()},
        "torn_lines": torn,
    }


def _by(entries: Iterable[Entry], field: str) -> dict[str, int]:
    return _tally(getattr(entry, field) for entry in entries)


def _tally(values: Iterable[str]) -> dict[str, int]:
    """Count values, in the order in which they come."""
    return dict(Counter(values))


def _by_age(entries: Iterable[Entry], now: date) -> dict[str, int]:
    """Count memories by age, the youngest first."""
    ages = (age_of(entry, now) for entry in entries)
    return _tally(_age_name(age) for age in sorted(ages, key=lambda age: (age is None, age or 0)))


def _age_name(age: int | None) -> str:
    if age is None:
        return NO_DATE
    return next((up_to(name) for most, name in _AGES if age <= most), OLDER)


def _journal_size(root: Path) -> int:
    journal = root / "history.jsonl"
    return journal.stat().st_size if journal.is_file() else 0


def _lines(counted: dict[str, Any]) -> Iterator[Line]:
    yield line((count_title(counted["memories"]), "strong"))
    for key, title in STATS_GROUPS.items():
        if counted[key]:
            yield line()
            yield line((title, "where"))
            names = messages.SOURCE_NAMES if key == "by_source" else {}
            rows = [(str(count), names.get(name, name)) for name, count in counted[key].items()]
            yield from table(rows, ("strong",), indent=2)
    yield line()
    rows = [(str(counted[key]), title) for key, title in _TOTALS.items()]
    yield from table(rows, ("strong",))
    slept = max(counted["slept"].values(), default="")
    yield line((last_sleep(when(slept)), "dim"), hang=2)
    yield from _asked_lines(counted["models"])
    if counted["switched_off"]:
        yield line((switched_off(counted["switched_off"]), "warn"), hang=2)
    for reason in counted["degraded"]:
        yield line((degraded(reason), "bad"))


def _asked_lines(asked: dict[str, Any]) -> Iterator[Line]:
    """Show what models were asked, if they were."""
    if asked["by_outcome"]:
        yield line()
        yield line((MODELS, "where"))
        for key in ("by_job", "by_model"):
            rows = [(str(each["calls"]), name, cost(each)) for name, each in asked[key].items()]
            yield from table(rows, ("strong",), indent=2)
        ended = [
            (str(count), outcome(name))
            for name, count in asked["by_outcome"].items()
            if name != "ok"
        ]
        yield from table(ended, ("strong",), indent=2)
        yield line(f"  {window(asked['window'])}")
    if asked["torn_lines"]:
        yield line((torn_lines(asked["torn_lines"]), "bad"))
