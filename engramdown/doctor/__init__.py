"""What is wrong in the files of a memory, and how it is mended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.lazy import door

if TYPE_CHECKING:
    from engramdown.doctor.checks import Ids, StagedReport, check, inspect_staged, repair, stops
    from engramdown.doctor.findings import CODES, Finding, Level, find
    from engramdown.doctor.folder import UNREADABLE, inspect, inspect_settings
    from engramdown.doctor.recordings import (
        Sourced,
        Tidying,
        count_transcripts,
        inspect_origins,
        journalled,
        learned_from,
        plan_tidying,
        remaining,
        telling_findings,
        tidy,
    )

__all__ = ["CODES", "UNREADABLE", "Finding", "Ids", "Level", "Sourced", "StagedReport", "Tidying"]
__all__ += ["check", "count_transcripts", "find", "inspect", "inspect_origins", "inspect_settings"]
__all__ += ["inspect_staged", "journalled", "learned_from", "plan_tidying", "remaining", "repair"]
__all__ += ["stops", "telling_findings", "tidy"]

__getattr__, __dir__ = door(
    __name__,
    {
        "checks": ["Ids", "StagedReport", "check", "inspect_staged", "repair", "stops"],
        "findings": ["CODES", "Finding", "Level", "find"],
        "folder": ["UNREADABLE", "inspect", "inspect_settings"],
        "recordings": [
            *("Sourced", "Tidying", "count_transcripts", "inspect_origins", "journalled"),
            *("learned_from", "plan_tidying", "remaining", "telling_findings", "tidy"),
        ],
    },
)
