"""``engramdown stats``: how much is remembered, from whom and how old; what models were asked.

It counts what the stores hold now, and changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import click

from engramdown import serializers
from engramdown.cli import commands
from engramdown.cli.access import open_cortex
from engramdown.cli.layout import Line, clock, line, table
from engramdown.cli.process import Place
from engramdown.cli.views import counted
from engramdown.clock import today
from engramdown.models import OUTCOMES

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
# At most so many ids of memories that were never used are printed.
_MOST: Final = 10


@click.command()
@commands.json_option
@commands.pass_place
def stats(place: Place, /, **_: object) -> None:
    """Count memories by file, kind, source, basis and age; what waits; what models were asked."""
    counts = serializers.stats_data(open_cortex(place), today())
    commands.show(_lines(counts), counts)


def _lines(counts: dict[str, Any]) -> Iterator[Line]:
    yield line((counted(counts["memories"], "memory", "memories"), "strong"))
    for key, title in _GROUPS.items():
        if counts[key]:
            yield line()
            yield line((title, "where"))
            names = serializers.BY_NAMES if key == "by_source" else {}
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
