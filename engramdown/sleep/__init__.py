"""When which job runs: sleep, the worker, and watching."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.lazy import door

if TYPE_CHECKING:
    from engramdown.sleep.progress import slept_at as slept_at
    from engramdown.sleep.session_cards import fill_card as fill_card
    from engramdown.sleep.sleep import Sleep as Sleep
    from engramdown.sleep.steps import JobReport as JobReport
    from engramdown.sleep.steps import SleepSummary as SleepSummary
    from engramdown.sleep.watcher import News as News
    from engramdown.sleep.worker import Deed as Deed
    from engramdown.sleep.worker import WorkSummary as WorkSummary
    from engramdown.sleep.worker import work_once as work_once


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
