"""Real SIGKILLs and real errors at system calls: that they land, and a while of all of them.

Needs strace, which .ci/run installs; where it is missing, or may not trace, this is skipped. A few
cases of each experiment are run by ``test_campaign.py``, all of them by ``python -m tests.crash``.
"""

from __future__ import annotations

import random
import signal
import time
from pathlib import Path

import pytest

from tests.crash.faults import both_of, trials, tried
from tests.crash.performing import DONE, REFUSED
from tests.crash.subjects import OF_MEMORY, SUBJECTS
from tests.crash.system_calls import Injection, Tracer, can_trace

pytestmark = pytest.mark.skipif(not can_trace(), reason="strace is missing here, or may not trace")


def test_a_fault_lands_at_the_call_that_is_meant_or_is_told(tmp_path: Path) -> None:
    subject = OF_MEMORY["encode-rule"].make(tmp_path / "encode-rule")
    with Tracer(tmp_path) as tracer:
        calls = tracer.record("encode-rule", subject.copy)
        # The journal, the new file, both folders; the lock file is not synced.
        assert calls["fsync"] == 3
        assert calls["renameat2"] == 1
        now, last = tmp_path / "now", calls["write"]
        for fault, ended in (
            (Injection("write", last), -signal.SIGKILL),
            (Injection("fsync", 1, "EIO"), REFUSED),
            (Injection("fsync", 1, "EIO", lasts=True), REFUSED),
            (Injection("write", last, "ENOSPC"), DONE),  # who holds the lock is only a hint
        ):
            subject.copy(now)
            ran = tracer.run("encode-rule", now, fault)
            assert (ran.ended, ran.landed > 0) == (ended, True), (fault, ran)
            subject.verify(now, done=ended == DONE)
            now = now.with_name(f"{now.name}.")
        wrong = tried(tracer, subject, "encode-rule", now, Injection("write", last + 1, "EIO"))
        assert wrong == f"the fault did not land; ended with {DONE}"


@pytest.mark.soak
def test_no_kill_or_error_at_any_call_does_harm(tmp_path: Path, soak_seconds: float) -> None:
    end = time.monotonic() + soak_seconds
    for trial in trials(tmp_path, random.Random(), SUBJECTS, both_of):
        assert trial.wrong == "", trial.what
        if time.monotonic() > end:
            break
