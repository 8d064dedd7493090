"""``engramdown stats``: how much is remembered, from whom and how old; what models were asked.

It counts what the stores hold now, and changes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import date
from functools import reduce
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

import click

from engramdown import Cortex
from engramdown.cli import commands, views
from engramdown.cli.access import open_cortex
from engramdown.cli.layout import Line, clock, line, table
from engramdown.cli.process import Place
from engramdown.cli.views import counted
from engramdown.clock import moment, today
from engramdown.doctor import count_transcripts
from engramdown.gate import ledger_of
from engramdown.hippocampus import age_of
from engramdown.models import OUTCOMES, Sum, sums
from engramdown.sleep import slept_at
from engramdown.tokens import estimate_tokens

_GROUPS: Final = {
    "by_file": "by file",
    "by_kind": "by kind",
    "by_source": "by source",
    "by_basis": "by how it is known",
    "by_age": "by age",
}
_TOTALS: Final = {
    "pending": "waiting in pending.md",
    "archived": "retired, in archive.md",
    "context_tokens": "tokens of context",
    "history_steps": "steps in the journal",
    "history_bytes": "bytes of journal",
    "sessions": "sessions in the transcripts",
    "episodes": "episodes in them",
    "episode_bytes": "bytes of transcripts",
}
_USES: Final = ("shown", "recalled")
# At most so many ids of memories that were never used are printed.
_MOST: Final = 10
_FIELDS: Final = ("scope", "kind", "source", "basis", "confidence")
# The most days of each group.
_AGES: Final = ((7, "up to a week"), (30, "up to a month"), (365, "up to a year"))


@click.command()
@commands.json_option
@commands.pass_place
def stats(place: Place, /, **_: object) -> None:
    """Count memories by file, kind, source, basis and age; what waits; what models were asked."""
    counts = _count(open_cortex(place), today())
    commands.show(_lines(counts), counts)


def _count(cortex: Cortex, now: date) -> dict[str, Any]:
    entries, stores = cortex.entries(), cortex.scopes.stores
    # Not by the facade, which counts what is shown.
    context = cortex.context.recollection.context("", cortex.context.earlier_sessions())
    uses = cortex.scopes.uses()
    used = {how: [it for it in entries if f"{how}/{it.id}" in uses] for how in _USES}
    never = [it.id for it in entries if not any(it in known for known in used.values())]
    ages = [age_of(entry, now) for entry in entries]
    ages.sort(key=lambda age: (age is None, age or 0))
    return {
        "memories": len(entries),
        "by_file": dict(Counter(f"{entry.disk_file} ({entry.scope})" for entry in entries)),
        **{f"by_{name}": dict(Counter(map(attrgetter(name), entries))) for name in _FIELDS},
        "by_age": dict(Counter(map(_age_name, ages))),
        "used": {
            **{how: len(known) for how, known in used.items()},
            "times": {name: uses[name].times for name in uses},
            "never": never,
        },
        "pending": len(cortex.pending()),
        "archived": len(cortex.scopes.archived()),
        "context_tokens": estimate_tokens(context),
        "history_steps": sum(len(cortex.scopes.if_readable(store.history)) for store in stores),
        "history_bytes": sum(_journal_size(store.root) for store in stores),
        **count_transcripts(*(store.root for store in stores)),
        "switched_off": cortex.scopes.settings.stopped(),
        "slept": {store.scope: slept_at(store.root) for store in stores},
        "models": _asked(cortex),
    }


def _age_name(age: int | None) -> str:
    if age is None:
        return "without a date"
    return next((name for most, name in _AGES if age <= most), "older")


def _journal_size(root: Path) -> int:
    journal = root / "history.jsonl"
    return journal.stat().st_size if journal.is_file() else 0


def _asked(cortex: Cortex) -> dict[str, Any]:
    """Sum up the calls in the ledger."""
    settings = cortex.scopes.settings.consolidation
    ledger = ledger_of(cortex.scopes)
    calls, torn = ledger.known()
    recent = ledger.spent_since(settings.window_hours, moment())
    total = reduce(Sum.plus, calls, Sum())
    return {
        **total._asdict(),
        "by_job": {name: each._asdict() for name, each in sums(calls, "job").items()},
        "by_model": {name: each._asdict() for name, each in sums(calls, "model").items()},
        "by_outcome": dict(Counter(call.outcome for call in calls)),
        "window": {"hours": settings.window_hours, **recent._asdict()},
        "torn_lines": torn,
    }


def _lines(counts: dict[str, Any]) -> Iterator[Line]:
    yield line((counted(counts["memories"], "memory", "memories"), "strong"))
    for key, title in _GROUPS.items():
        if counts[key]:
            yield line()
            yield line((title, "where"))
            names = views.BY_NAMES if key == "by_source" else {}
            rows = [(str(count), names.get(name, name)) for name, count in counts[key].items()]
            yield from table(rows, ("strong",), indent=2)
    yield from _used_lines(counts["used"])
    yield line()
    rows = [(str(counts[key]), title) for key, title in _TOTALS.items()]
    yield from table(rows, ("strong",))
    slept = max(counts["slept"].values(), default="")
    never = "memory has not slept yet; `engramdown sleep` learns from finished sessions"
    text = f"sleep last finished a step on {clock(slept)}" if slept else never
    yield line((text, "dim"), hang=2)
    yield from _asked_lines(counts["models"])
    if counts["switched_off"]:
        off = ", ".join(counts["switched_off"])
        yield line((f"switched off by this project's config.toml: {off}", "warn"), hang=2)
    for reason in counts["degraded"]:
        yield line((f"Memory is degraded: {reason}", "bad"))


def _used_lines(used: dict[str, Any]) -> Iterator[Line]:
    """Yield how many memories were used, and which never were."""
    never = used["never"]
    if used["shown"] or used["recalled"] or never:
        ids = ", ".join(never[:_MOST]) + (", ..." if never[_MOST:] else "")
        yield line()
        yield line(("by use", "where"))
        rows = [(used["shown"], "shown"), (used["recalled"], "recalled")]
        rows += [(len(never), f"never: {ids}")] if never else []
        yield from table([(str(count), text) for count, text in rows], ("strong",), indent=2)


def _asked_lines(asked: dict[str, Any]) -> Iterator[Line]:
    """Yield what models were asked, if anything."""
    if asked["by_outcome"]:
        yield line()
        yield line(("calls of language models, for all projects", "where"))
        for key in ("by_job", "by_model"):
            rows = [(str(each["calls"]), name, _cost(each)) for name, each in asked[key].items()]
            yield from table(rows, ("strong",), indent=2)
        ends = asked["by_outcome"].items()
        ended = [(str(count), OUTCOMES.get(name, name)) for name, count in ends if name != "ok"]
        yield from table(ended, ("strong",), indent=2)
        recent = asked["window"]
        calls = counted(recent["calls"], "call")
        yield line(f"  in the last {recent['hours']:g} hours: {calls}, {recent['tokens']:,} tokens")
    torn = asked["torn_lines"]
    if torn:
        lines = "1 line of ledger.jsonl is" if torn == 1 else f"{torn} lines of ledger.jsonl are"
        yield line((f"{lines} cut short, and not counted", "bad"))


def _cost(asked: dict[str, Any]) -> str:
    seconds = asked["ms"] / 1000
    return f"{asked['tokens_in']:,} tokens in, {asked['tokens_out']:,} out, {seconds:,.1f} s"
