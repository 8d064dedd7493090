"""The state of memory and of skills, and what sleep and compaction did, as values for JSON.

The rules are those of :mod:`engramdown.serializers.memories`; only :func:`stats_data` reads the
stores itself, to count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import reduce
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from engramdown.serializers.memories import pick

if TYPE_CHECKING:
    from engramdown import Cortex
    from engramdown.consolidation import Operation, Ruling
    from engramdown.doctor import Finding, Report, StagedReport
    from engramdown.gate import CompactionReceipt, Prepared, Receipt
    from engramdown.skills import Beside, Fate, Known, Skill
    from engramdown.sleep import SleepSummary, WorkSummary
    from engramdown.storage import Used

_USES: Final = ("shown", "recalled")
_FIELDS: Final = ("scope", "kind", "source", "basis", "confidence")
# The most days of each group.
_AGES: Final = ((7, "up to a week"), (30, "up to a month"), (365, "up to a year"))
_LEVELS: Final = ("error", "warning", "note")


# ---- stats ----


def stats_data(cortex: Cortex, today: date) -> dict[str, Any]:
    """Count what the stores hold now, and what models were asked."""
    from engramdown.doctor import count_transcripts
    from engramdown.hippocampus import age_of
    from engramdown.sleep import slept_at
    from engramdown.tokens import estimate_tokens

    entries, stores = cortex.entries(), cortex.scopes.stores
    # Not by the facade, which counts what is shown.
    context = cortex.context.recollection.context("", cortex.context.earlier_sessions())
    uses = cortex.scopes.uses()
    used = {how: [it for it in entries if f"{how}/{it.id}" in uses] for how in _USES}
    never = [it.id for it in entries if not any(it in known for known in used.values())]
    ages = [age_of(entry, today) for entry in entries]
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
    from engramdown.clock import moment
    from engramdown.gate import ledger_of
    from engramdown.models import Sum, sums

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


# ---- doctor ----


def doctor_data(
    reports: Sequence[Report],
    changes: Sequence[Mapping[str, Any]] = (),
    tidied: Sequence[str] = (),
    *,
    dry_run: bool = False,
) -> dict[str, Any]:
    """Return the faults in each scope.

    Args:
        reports: What was found in each scope.
        changes: The repairs of memory files, each with its diff.
        tidied: The repairs in transcripts, a sentence each.
        dry_run: Whether these repairs would only be made.
    """
    found = [finding for report in reports for finding in report.findings]
    return {
        "healthy": all(finding.level == "note" for finding in found),
        **{f"{level}s": sum(each.level == level for each in found) for level in _LEVELS},
        "fixable": sum(finding.fixable for finding in found),
        "dry_run": dry_run,
        "changes": changes,
        "tidied": tidied,
        "scopes": [
            {
                "scope": report.scope,
                "folder": str(report.folder),
                "files": report.files,
                "findings": [_finding_data(each, report.path_of(each)) for each in report.findings],
            }
            for report in reports
        ],
    }


def staged_data(report: StagedReport, top: Path) -> dict[str, Any]:
    """Return the faults in the files that are staged in the repository at ``top``."""
    from engramdown.doctor import stops

    levels = Counter(finding.level for _, finding in report.findings)
    return {
        "healthy": not any(stops(finding) for _, finding in report.findings),
        "files": report.files,
        "errors": levels["error"],
        "warnings": levels["warning"],
        "findings": [
            {**_finding_data(finding, top / path), "file": path, "stops": stops(finding)}
            for path, finding in report.findings
        ],
    }


def _finding_data(finding: Finding, path: Path) -> dict[str, Any]:
    data = pick(finding, "file line code level message advice fixable")
    return {**data, "path": str(path)}


# ---- skills ----


def skill_data(skill: Skill) -> dict[str, Any]:
    """Return a skill."""
    return {
        **pick(skill, "label scope path"),
        "name": skill.page.text("name"),
        "description": skill.description,
        "findings": [
            {**each._asdict(), "level": each.level, "advice": each.advice}
            for each in skill.findings
        ],
    }


def listed_skill_data(known: Known, uses: Mapping[str, Used]) -> dict[str, Any]:
    """Return a skill with how often it was used, and how it relates to others of its label."""
    other = known.other or None
    return {
        **skill_data(known.skill),
        **_used_data(known.skill, uses),
        "shadows": other if known.counts else None,
        "shadowed_by": None if known.counts else other,
    }


def whole_skill_data(
    skill: Skill, uses: Mapping[str, Used], files: Iterable[Beside]
) -> dict[str, Any]:
    """Return a skill with its text, how often it was used, and the files beside it."""
    more = {"files": [each._asdict() for each in files], "text": skill.page.render()}
    return {**skill_data(skill), **_used_data(skill, uses), **more}


def _used_data(skill: Skill, uses: Mapping[str, Used]) -> dict[str, Any]:
    used = uses.get(f"{skill.scope}/{skill.label}")
    return {"uses": used.times if used else 0, "last_used": (used and used.last) or None}


def validity_data(skills: Iterable[Skill], *, is_valid: bool) -> dict[str, Any]:
    """Return skills that were checked, and whether nothing is to be mended in any."""
    return {"valid": is_valid, "skills": [skill_data(each) for each in skills]}


def imported_skills_data(fates: Iterable[Fate], *, dry_run: bool) -> dict[str, Any]:
    """Return what became of skills that were imported, or would become."""
    return {"dry_run": dry_run, "skills": [_fate_data(fate) for fate in fates]}


def _fate_data(fate: Fate) -> dict[str, Any]:
    each = fate.incoming
    return {
        "label": each.label,
        **pick(fate, "action reason"),
        "source": each.source,
        "path": fate.path,
        "description": each.page.text("description"),
        "files": [
            {"name": name, "size": len(each.files[name].data), "runs": each.files[name].runs}
            for name in sorted(each.files)
        ],
        "hidden": each.hidden,
        "findings": [{**one._asdict(), "level": one.level} for one in each.findings],
    }


# ---- sleep, and the worker ----


def sleep_data(summary: SleepSummary) -> dict[str, Any]:
    """Return what sleep did."""
    return {
        **pick(summary, "dry_run stopped skipped model"),
        "spent": summary.spent._asdict(),
        **pick(summary, "running not_ours busy failed"),
        "jobs": [
            {
                **pick(report, "scope job steps left skipped problems refused"),
                "receipts": [
                    *map(_learned_data, report.receipts),
                    *map(_compacted_data, report.compacted),
                ],
            }
            for report in summary.jobs
        ],
    }


def round_data(summary: WorkSummary) -> dict[str, Any]:
    """Return what the worker did in one round."""
    return {
        **pick(summary, "dry_run stopped model"),
        "spent": summary.spent._asdict(),
        **pick(summary, "busy failed waits left given_up not_ours refused"),
        "done": [
            {
                **pick(deed, "what session outcome text messages"),
                "receipts": [_learned_data(each) for each in deed.receipts],
            }
            for deed in summary.deeds
        ],
    }


def _learned_data(receipt: Receipt) -> dict[str, str]:
    engram = receipt.engram
    return {**pick(receipt, "action reason id"), "text": engram.text, "from": engram.origin}


def _compacted_data(receipt: CompactionReceipt) -> dict[str, Any]:
    operation = receipt.operation
    name, ids = (operation.name, [*operation.ids]) if operation is not None else ("", [])
    return {**pick(receipt, "action reason id"), "operation": name, "ids": ids}


# ---- compaction ----


def compaction_data(
    prepared: Iterable[Prepared],
    receipts: Iterable[CompactionReceipt],
    changes: Sequence[Mapping[str, Any]],
    *,
    dry_run: bool,
) -> dict[str, Any]:
    """Return a plan to say the same in fewer memories, and what became of it.

    Args:
        prepared: The plan for each scope.
        receipts: What became of each operation.
        changes: The files that a dry run would change, each with its diff.
        dry_run: Whether nothing was written.
    """
    return {
        "dry_run": dry_run,
        "scopes": [_plan_data(each) for each in prepared],
        "receipts": [
            {
                **pick(each, "scope action reason id"),
                "operation": _operation_data(each.operation) if each.operation else None,
            }
            for each in receipts
        ],
        "changes": changes,
    }


def _plan_data(each: Prepared) -> dict[str, Any]:
    return {
        "scope": each.store.scope,
        "problem": each.problem,
        "diff": [str(row) for row in each.diff()],
        "apply": [_operation_data(operation) for operation in each.apply],
        "propose": [_ruling_data(ruling) for ruling in each.propose],
        "refused": [_ruling_data(ruling) for ruling in each.refused],
        "contradictions": [
            [pick(entry, "id text line") | {"file": entry.disk_file} for entry in pair]
            for pair in each.contradictions
        ],
    }


def _ruling_data(ruling: Ruling) -> dict[str, Any]:
    return {**_operation_data(ruling.operation), "why": ruling.why}


def _operation_data(operation: Operation) -> dict[str, Any]:
    texts = {name: getattr(operation, name, "") for name in ("text", "topic")}
    named = {"operation": operation.name, "ids": [*operation.ids], "stays": operation.stays}
    return {**named, **texts, "reason": operation.reason}
