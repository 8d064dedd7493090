"""`engramdown.models.ledger`: one line a call, by as many processes as there are."""

from __future__ import annotations

import errno
import multiprocessing
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.errors import StoreError
from engramdown.models.ledger import (
    ASKED,
    NAME,
    Call,
    Known,
    Ledger,
    Limits,
    Spent,
    refusal,
    write_line,
)
from tests.tables import every

CALL = Call("2026-03-01T10:00:00.000000Z", "replay", "openai/small", 120, 30, 250, "ok")
NOW = "2026-03-02T09:00:00.000000Z"


def test_what_was_added_is_known_to_everybody(tmp_path: Path) -> None:
    one, other = Ledger(tmp_path / "new"), Ledger(tmp_path / "new")
    one.add(CALL)
    assert other.known() == Known((CALL,), 0)
    other.add(CALL._replace(job="identity"))
    assert [call.job for call in one.known().calls] == ["replay", "identity"]
    assert one.known() == other.known()


def test_reading_creates_nothing(tmp_path: Path) -> None:
    assert Ledger(tmp_path / "new").known() == Known((), 0)
    assert list(tmp_path.iterdir()) == []


def test_without_a_folder_it_is_kept_in_mind() -> None:
    ledger = Ledger(None)
    ledger.add(CALL)
    assert ledger.known() == Known((CALL,), 0)


def test_a_torn_line_is_skipped_counted_and_left_on_its_own(tmp_path: Path) -> None:
    torn = write_line(CALL)[:50]
    (tmp_path / NAME).write_bytes(write_line(CALL) + torn)
    ledger = Ledger(tmp_path)
    assert ledger.known() == Known((CALL,), 1)
    ledger.add(CALL)
    assert ledger.known() == Known((CALL, CALL), 1)
    assert (tmp_path / NAME).read_bytes().split(b"\n")[1] == torn


def test_what_is_no_call_is_skipped_and_counted(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(b"{}\n\nwhat\xff\n" + write_line(CALL))
    assert Ledger(tmp_path).known() == Known((CALL,), 2)


def test_a_ledger_that_was_removed_or_cut_begins_anew(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    for _ in range(3):
        ledger.add(CALL)
    assert len(ledger.known().calls) == 3
    (tmp_path / NAME).write_bytes(write_line(CALL))
    assert len(ledger.known().calls) == 1
    (tmp_path / NAME).unlink()
    assert ledger.known() == Known((), 0)


def test_what_calls_cost_in_a_window_is_what_was_asked_in_it(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.add(CALL._replace(ts="2026-03-01T08:00:00.000000Z"))
    ledger.add(CALL)
    ledger.add(CALL._replace(outcome="timeout", tokens_out=0))
    ledger.add(CALL._replace(outcome="refused_spend"))
    assert ledger.spent_since(24, NOW) == Spent(2, 270)
    assert ledger.spent_since(25.5, NOW) == Spent(3, 420)
    assert ledger.spent_since(0, NOW) == Spent()
    for ages in (1e8, 1e12, float("inf")):
        assert ledger.spent_since(ages, NOW) == Spent(3, 420)


def test_the_end_of_a_call_takes_the_place_of_its_beginning(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    begun = CALL._replace(outcome=ASKED, tokens_out=4096, ms=0, id="aa")
    other = CALL._replace(job="identity", id="bb")
    for call in (begun, other):
        ledger.add(call)
    assert ledger.known().calls == (begun, other)
    assert Ledger(tmp_path).spent_since(24, NOW) == Spent(2, 120 + 4096 + 150)
    ended = CALL._replace(id="aa")
    ledger.add(ended)
    assert ledger.known() == Ledger(tmp_path).known() == Known((ended, other), 0)


def test_a_call_whose_program_was_killed_counts_as_the_most_it_can_have_cost(
    tmp_path: Path,
) -> None:
    Ledger(tmp_path).add(CALL._replace(outcome=ASKED, tokens_out=4096, id="aa"))
    assert Ledger(tmp_path).spent_since(24, NOW) == Spent(1, 4216)


def test_no_line_hides_another_call_behind_its_id(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    for tokens in (1, 2, 3):
        ledger.add(CALL._replace(tokens_in=tokens, id="aa"))
    ledger.add(CALL._replace(tokens_in=4))
    ledger.add(CALL._replace(tokens_in=5))
    assert [call.tokens_in for call in ledger.known().calls] == [1, 2, 3, 4, 5]


def test_only_what_began_before_a_call_counts_before_it(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    for name in ("aa", "bb", "cc"):
        ledger.add(CALL._replace(id=name))
    assert ledger.spent_since(24, NOW, before="bb") == Spent(1, 150)
    assert ledger.spent_since(24, NOW) == Spent(3, 450)


def test_what_was_spent_before_a_clock_was_turned_back_counts_for_one_window_more(
    tmp_path: Path,
) -> None:
    ledger = Ledger(tmp_path)
    ledger.add(CALL._replace(ts="2031-01-01T00:00:00.000000Z"))
    assert ledger.spent_since(24, NOW) == Spent(1, 150)
    ledger.add(CALL._replace(ts="2026-03-02T08:00:00.000000Z", outcome="refused_spend"))
    assert ledger.spent_since(24, NOW) == Spent(1, 150)
    assert ledger.spent_since(24, "2026-03-03T07:59:59.000000Z") == Spent(1, 150)
    assert ledger.spent_since(24, "2026-03-03T08:00:00.000000Z") == Spent()


def test_a_clock_that_was_behind_for_a_moment_hides_no_call(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.add(CALL)
    ledger.add(CALL._replace(ts="1970-01-01T00:00:00.000000Z"))
    assert ledger.spent_since(24, NOW) == Spent(1, 150)


def add_many(folder: Path, job: str) -> None:
    ledger = Ledger(folder)
    for number in range(50):
        ledger.add(CALL._replace(job=job, ms=number))


@pytest.mark.slow
def test_several_processes_may_write_at_once(tmp_path: Path) -> None:
    processes = [
        multiprocessing.get_context("spawn").Process(target=add_many, args=(tmp_path, job))
        for job in ("replay", "identity", "compaction")
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    known = Ledger(tmp_path).known()
    assert known.torn == 0
    for job in ("replay", "identity", "compaction"):
        assert [call.ms for call in known.calls if call.job == job] == list(range(50))


def test_a_ledger_that_is_no_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / NAME).symlink_to(tmp_path / "elsewhere")
    for use in (lambda: Ledger(tmp_path).add(CALL), Ledger(tmp_path).known):
        with pytest.raises(StoreError, match="is a link where a file should be"):
            use()
    assert not (tmp_path / "elsewhere").exists()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StoreError, match=r"file: is not a folder; move it away"):
        Ledger(tmp_path / "file" / "deep").add(CALL)
    with pytest.raises(StoreError, match=r"ledger\.jsonl: could not be read"):
        Ledger(tmp_path / "file").known()


def test_a_disk_that_is_full_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write, left = os.write, [10]

    def fill(to: int, data: bytes) -> int:
        if not left:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(to, data[: left.pop()])

    monkeypatch.setattr(os, "write", fill)
    with pytest.raises(StoreError, match="No space left"):
        Ledger(tmp_path).add(CALL)
    monkeypatch.undo()
    Ledger(tmp_path).add(CALL)
    assert Ledger(tmp_path).known() == Known((CALL,), 1)


LIMITS = Limits(
    calls_per_run=3,
    tokens_per_run=1000,
    window_hours=24,
    calls_per_window=10,
    tokens_per_window=5000,
)


@every(
    "run, window, said",
    [
        pytest.param(Spent(2, 600), Spent(9, 4600), "", id="just-fits"),
        pytest.param(
            Spent(3, 0), Spent(3, 0),
            "calls_per_run is 3, and 3 calls are spent in this run; "
            "to allow more, raise calls_per_run under [consolidation] in config.toml",
            id="calls-of-the-run",
        ),
        pytest.param(
            Spent(1, 601), Spent(1, 601),
            "tokens_per_run is 1,000, 601 tokens are spent in this run and the next call may "
            "need 400; to allow more, raise tokens_per_run under [consolidation] in config.toml",
            id="tokens-of-the-run",
        ),
        pytest.param(
            Spent(), Spent(10, 0),
            "calls_per_window is 10, and 10 calls are spent in the last 24 hours; "
            "to allow more, raise calls_per_window under [consolidation] in config.toml",
            id="calls-of-the-window",
        ),
        pytest.param(
            Spent(), Spent(1, 4601),
            "tokens_per_window is 5,000, 4,601 tokens are spent in the last 24 hours and the next "
            "call may need 400; to allow more, raise tokens_per_window under [consolidation] in "
            "config.toml",
            id="tokens-of-the-window",
        ),
    ],
)  # fmt: skip
def test_a_refusal_names_the_limit_and_what_is_spent(run: Spent, window: Spent, said: str) -> None:
    assert refusal(LIMITS, run, window, 400) == said


def test_one_call_is_one_call() -> None:
    assert "and 1 call is spent" in refusal(
        LIMITS._replace(calls_per_run=1), Spent(1, 1), Spent(), 1
    )


def test_a_limit_of_nothing_allows_nothing() -> None:
    assert "calls_per_run is 0" in refusal(LIMITS._replace(calls_per_run=0), Spent(), Spent(), 0)


sizes = st.integers(0, 200)


@given(st.builds(Limits, sizes, sizes, sizes, sizes, sizes), st.lists(sizes), sizes)
def test_whatever_is_asked_no_limit_is_passed(
    limits: Limits, asked: list[int], before: int
) -> None:
    run, window = Spent(), Spent(0, before)
    for tokens in asked:
        if not refusal(limits, run, window, tokens):
            run, window = run.plus(tokens), window.plus(tokens)
            assert window.calls <= limits.calls_per_window
            assert window.tokens <= limits.tokens_per_window
    assert run.calls <= limits.calls_per_run
    assert run.tokens <= limits.tokens_per_run
