"""Finds what is wrong in the files of a memory, and mends it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.lazy import door

if TYPE_CHECKING:
    from engramdown.doctor.checks import Ids as Ids
    from engramdown.doctor.checks import StagedReport as StagedReport
    from engramdown.doctor.checks import check as check
    from engramdown.doctor.checks import inspect_staged as inspect_staged
    from engramdown.doctor.checks import repair as repair
    from engramdown.doctor.checks import stops as stops
    from engramdown.doctor.findings import Finding as Finding
    from engramdown.doctor.findings import Level as Level
    from engramdown.doctor.findings import codes as codes
    from engramdown.doctor.findings import find as find
    from engramdown.doctor.folder import UNREADABLE as UNREADABLE
    from engramdown.doctor.folder import Inspection as Inspection
    from engramdown.doctor.folder import inspect_settings as inspect_settings
    from engramdown.doctor.recordings import Sourced as Sourced
    from engramdown.doctor.recordings import Tidying as Tidying
    from engramdown.doctor.recordings import count_transcripts as count_transcripts
    from engramdown.doctor.recordings import inspect_citations as inspect_citations
    from engramdown.doctor.recordings import inspect_origins as inspect_origins
    from engramdown.doctor.recordings import journalled as journalled
    from engramdown.doctor.recordings import learned_from as learned_from
    from engramdown.doctor.recordings import plan_tidying as plan_tidying
    from engramdown.doctor.recordings import remaining as remaining
    from engramdown.doctor.recordings import telling_findings as telling_findings
    from engramdown.doctor.recordings import tidy as tidy


__getattr__, __dir__ = door(
    __name__,
    {
        "checks": ["Ids", "StagedReport", "check", "inspect_staged", "repair", "stops"],
        "findings": ["Finding", "Level", "codes", "find"],
        "folder": ["UNREADABLE", "Inspection", "inspect_settings"],
        "recordings": [
            *("Sourced", "Tidying", "count_transcripts", "inspect_citations"),
            *("inspect_origins", "journalled"),
            *("learned_from", "plan_tidying", "remaining", "telling_findings", "tidy"),
        ],
    },
)
