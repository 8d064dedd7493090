"""When which job runs: sleep, the worker, and watching."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.lazy import door

if TYPE_CHECKING:
    from engramdown.sleep.progress import slept_at
    from engramdown.sleep.session_cards import fill_card
    from engramdown.sleep.sleep import Sleep
    from engramdown.sleep.steps import JobReport, SleepSummary
    from engramdown.sleep.watcher import News
    from engramdown.sleep.worker import Deed, WorkSummary, work_once

__all__ = ["Deed", "JobReport", "News", "Sleep", "SleepSummary", "WorkSummary", "fill_card"]
__all__ += ["slept_at", "work_once"]

__getattr__, __dir__ = door(
    __name__,
    {
        "progress": ["slept_at"],
        "session_cards": ["fill_card"],
        "sleep": ["Sleep"],
        "watcher": ["News"],
        "steps": ["JobReport", "SleepSummary"],
        "worker": ["Deed", "WorkSummary", "work_once"],
    },
)
