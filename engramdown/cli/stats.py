"""``engramdown stats``: how much is remembered, from whom, how old; what models were asked.

Promises: counts only what a store holds now; changes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import date
from pathlib import Path
from typing import Any, Final

import click

from engramdown import Cortex, Entry
from engramdown.cli import messages, output, stats_messages
from engramdown.cli.access import open_cortex
from engramdown.cli.commands import json_option, pass_place
from engramdown.cli.history import when
from engramdown.cli.layout import Line, line, table
from engramdown.cli.process import Place
from engramdown.cli.show import age_of
from engramdown.clock import moment, today
from engramdown.consolidation.asking.calls import Sum, sums
from engramdown.cortex.asking import ledger_of
from engramdown.cortex.sleep_state import slept_at
from engramdown.cortex.transcripts import Tally, count_transcripts
from engramdown.tokens import estimate_tokens

_TOTALS: Final = stats_messages.STATS_TOTALS | stats_messages.TRANSCRIPT_TOTALS
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
    recorded = sum((count_transcripts(store.root) for store in cortex.stores), Tally())
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
        "archived": len(cortex.archived()),
        "context_tokens": estimate_tokens(context),
        "history_steps": sum(len(cortex.if_readable(store.history)) for store in cortex.stores),
        "history_bytes": sum(_journal_size(store.root) for store in cortex.stores),
        "sessions": recorded.sessions,
        "episodes": recorded.episodes,
        "episode_bytes": recorded.size,
        "degraded": list(recorded.degraded),
        "switched_off": cortex.settings.stopped(),
        "slept": {store.scope: slept_at(store.root) for store in cortex.stores},
        "models": _asked(cortex),
    }


def _asked(cortex: Cortex) -> dict[str, Any]:
    """Sum the ledger of what models were asked."""
    settings = cortex.settings.consolidation
    ledger = ledger_of(cortex)
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
        return stats_messages.NO_DATE
    return next(
        (stats_messages.up_to(name) for most, name in _AGES if age <= most), stats_messages.OLDER
    )


def _journal_size(root: Path) -> int:
    journal = root / "history.jsonl"
    return journal.stat().st_size if journal.is_file() else 0


def _lines(counted: dict[str, Any]) -> Iterator[Line]:
    yield line((stats_messages.count_title(counted["memories"]), "strong"))
    for key, title in stats_messages.STATS_GROUPS.items():
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
    yield line((stats_messages.slept(when(slept)), "dim"), hang=2)
    yield from _asked_lines(counted["models"])
    if counted["switched_off"]:
        yield line((stats_messages.switched_off(counted["switched_off"]), "warn"), hang=2)
    for reason in counted["degraded"]:
        yield line((stats_messages.degraded(reason), "bad"))


def _asked_lines(asked: dict[str, Any]) -> Iterator[Line]:
    """Show what models were asked, if they were."""
    if asked["by_outcome"]:
        yield line()
        yield line((stats_messages.MODELS, "where"))
        for key in ("by_job", "by_model"):
            rows = [
                (str(each["calls"]), name, stats_messages.cost(each))
                for name, each in asked[key].items()
            ]
            yield from table(rows, ("strong",), indent=2)
        ended = [
            (str(count), stats_messages.outcome(name))
            for name, count in asked["by_outcome"].items()
            if name != "ok"
        ]
        yield from table(ended, ("strong",), indent=2)
        yield line(f"  {stats_messages.window(asked['window'])}")
    if asked["torn_lines"]:
        yield line((stats_messages.torn_lines(asked["torn_lines"]), "bad"))
