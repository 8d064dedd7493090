"""A round of the worker: each session gets its turn, once, whatever became of the others."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

import pytest
from freezegun import freeze_time

from engramdown import Cortex
from engramdown.episodes.card import CardFiles
from engramdown.errors import ModelError
from engramdown.gate.model_runs import ledger_of
from engramdown.sleep.progress import NAME
from engramdown.sleep.worker import LOCK, WorkSummary, work_once
from engramdown.storage.disk import Disk
from engramdown.storage.locks import SleepLock
from tests.cortex.desk import Desk, episodes, spoken

DAY: Final = "2026-03-01"


@pytest.fixture
def desk(cortex: Cortex) -> Desk:
    """Let the cortex ask a model."""
    cortex.scopes.model = desk = Desk()
    return desk


def round_of(cortex: Cortex, **how: Any) -> WorkSummary:  # noqa: ANN401 - any argument
    """Do a round that waits for nothing."""
    return work_once(cortex.scopes, **{"rest": lambda _: None, **how})


def deeds(summary: WorkSummary, outcome: str = "done") -> list[tuple[str, str]]:
    """Return what became of which session."""
    return [(deed.what, deed.session) for deed in summary.deeds if deed.outcome == outcome]


def title(cortex: Cortex, session: str) -> str:
    """Return what a model called a session, or ``""``."""
    card = episodes(cortex).card(session)
    return card.title if card.filled_by else ""


def settings(cortex: Cortex, **values: Any) -> None:  # noqa: ANN401 - any setting
    """Set something of the worker."""
    worker = cortex.scopes.settings.worker._replace(**values)
    cortex.scopes.settings = cortex.scopes.settings._replace(worker=worker)


def idle_after(cortex: Cortex, minutes: float) -> None:
    """Let sessions end that are silent for so long."""
    memory = episodes(cortex)
    memory.settings = memory.settings._replace(idle_minutes=minutes)


def files(cortex: Cortex) -> dict[str, bytes]:
    """Return every file of both scopes."""
    paths = (path for store in cortex.scopes.stores for path in store.root.rglob("*"))
    return {str(path): path.read_bytes() for path in paths if path.is_file()}


def empties(cortex: Cortex, count: int) -> None:
    """Record sessions in which nothing was said that counts, but for an import's notes."""
    for number in range(count):
        name = f"empty{number:03}"
        episodes(cortex).log(name, "tool_result", "nothing")
        episodes(cortex).end(name)
    episodes(cortex).close()


# ---- closing ----


def test_what_nobody_ended_is_ended_with_its_last_word_and_gets_its_card(
    cortex: Cortex, desk: Desk
) -> None:
    with freeze_time(f"{DAY} 10:00"):
        spoken(cortex, "friday", end=False)
    with freeze_time(f"{DAY} 12:00"):
        spoken(cortex, "young", end=False)
        summary = round_of(cortex)
    assert deeds(summary) == [("orphan", "friday"), ("card", "friday")]
    infos = {info.id: info for info in episodes(cortex).sessions()}
    assert infos["friday"].ended == infos["friday"].last == f"{DAY}T10:00:00.000000Z"
    assert (infos["friday"].reason, infos["young"].ended) == ("crash_recovery", "")
    assert desk.sessions == ["friday"]
    with freeze_time(f"{DAY} 12:00"):
        assert round_of(cortex).deeds == []


def test_a_session_that_is_silent_is_ended_if_that_is_set(cortex: Cortex, desk: Desk) -> None:
    with freeze_time(f"{DAY} 10:00"):
        spoken(cortex, "quiet", end=False)
    with freeze_time(f"{DAY} 10:30"):
        assert round_of(cortex).deeds == []
        idle_after(cortex, 20)
        assert deeds(round_of(cortex)) == [("idle", "quiet"), ("card", "quiet")]
    assert desk.sessions == ["quiet"]


def test_a_session_that_a_program_has_open_is_left_to_it(cortex: Cortex, desk: Desk) -> None:
    with freeze_time(f"{DAY} 10:00"):
        episodes(cortex).log("mine", "user", "Hello")
    with freeze_time(f"{DAY} 20:00"):
        assert round_of(cortex.reopened()).deeds == []
    assert desk.asked == []


def test_one_that_cannot_be_ended_is_named_and_tried_again(
    cortex: Cortex, monkeypatch: pytest.MonkeyPatch
) -> None:
    with freeze_time(f"{DAY} 10:00"):
        spoken(cortex, "s1", end=False)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch, freeze_time(f"{DAY} 20:00"):
        patch.setattr("engramdown.transcripts.sessions.SessionLog.end", full)
        summary = round_of(cortex)
    assert deeds(summary, "failed") == [("orphan", "s1")]
    assert "No space left" in summary.trouble
    with freeze_time(f"{DAY} 20:00"):
        assert deeds(round_of(cortex)) == [("orphan", "s1")]


# ---- cards ----


def test_each_session_that_ended_gets_a_card_once_the_oldest_first(
    cortex: Cortex, desk: Desk
) -> None:
    for name in ("a1", "b2", "c3"):
        spoken(cortex, name)
    spoken(cortex, "runs", end=False)
    told: list[str] = []
    summary = round_of(cortex, tell=lambda deed: told.append(deed.session))
    assert deeds(summary) == [("card", "a1"), ("card", "b2"), ("card", "c3")]
    assert told == desk.sessions == ["a1", "b2", "c3"]
    assert [title(cortex, name) for name in told] == ["About a1", "About b2", "About c3"]
    assert [deed.text for deed in summary.deeds] == ["About a1", "About b2", "About c3"]
    assert (summary.model, summary.spent.calls, summary.waits) == ("desk", 3, "")
    assert round_of(cortex).deeds == []
    assert len(desk.asked) == 3


def test_a_round_asks_about_a_batch_and_pauses_between_two_calls_only(
    cortex: Cortex, desk: Desk
) -> None:
    settings(cortex, batch=3, pause=7)
    for number in range(5):
        spoken(cortex, f"s{number}")
    rests: list[float] = []
    summary = round_of(cortex, rest=rests.append)
    assert (desk.sessions, summary.left) == (["s0", "s1", "s2"], 2)
    assert rests == [7, 7]
    assert (round_of(cortex).left, desk.sessions[3:]) == (0, ["s3", "s4"])


def test_empty_sessions_at_the_head_take_nobodys_place(cortex: Cortex, desk: Desk) -> None:
    settings(cortex, batch=1)
    empties(cortex, 30)
    spoken(cortex, "last")
    rests: list[float] = []
    summary = round_of(cortex, rest=rests.append)
    assert [what for what, _ in deeds(summary)] == ["empty"] * 30 + ["card"]
    assert (desk.sessions, rests) == (["last"], [])
    assert round_of(cortex).deeds == []
    assert episodes(cortex).card("empty000").kind == "empty"


def test_what_a_person_took_out_of_a_session_leaves_it_empty(cortex: Cortex, desk: Desk) -> None:
    spoken(cortex, "s1")
    episodes(cortex).forgetting().exclude("s1")
    assert deeds(round_of(cortex)) == [("empty", "s1")]
    episodes(cortex).forgetting().include("s1")
    assert deeds(round_of(cortex)) == [("card", "s1")]
    assert desk.sessions == ["s1"]


def test_a_persons_page_is_never_touched_and_nobody_is_asked_for_it(
    cortex: Cortex, desk: Desk
) -> None:
    spoken(cortex, "mine")
    spoken(cortex, "other")
    pages = CardFiles(episodes(cortex).folder.parent, Disk())
    pages.create("mine", "---\ntitle: In my words\n---\n")
    before = pages.path("mine").read_bytes()
    assert deeds(round_of(cortex)) == [("card", "other")]
    assert pages.path("mine").read_bytes() == before
    assert desk.sessions == ["other"]
    assert episodes(cortex).card("mine").title == "In my words"
    pages.path("mine").unlink()
    assert deeds(round_of(cortex)) == [("card", "mine")]


def test_a_page_that_a_person_writes_while_a_model_thinks_wins(cortex: Cortex, desk: Desk) -> None:
    spoken(cortex, "s1")
    pages = CardFiles(episodes(cortex).folder.parent, Disk())
    page = "---\ntitle: In my words\n---\n"
    desk.meanwhile = lambda: pages.create("s1", page)
    round_of(cortex)
    assert pages.path("s1").read_text(encoding="utf-8") == page
    assert episodes(cortex).card("s1").title == "In my words"


def test_a_session_that_goes_on_gets_another_card_when_it_ends_again(
    cortex: Cortex, desk: Desk
) -> None:
    spoken(cortex, "s1")
    round_of(cortex)
    spoken(cortex, "s1", "And I have a cat.", end=False)
    assert round_of(cortex).deeds == []
    episodes(cortex).end("s1")
    assert deeds(round_of(cortex)) == [("card", "s1")]
    assert desk.sessions == ["s1", "s1"]


def test_a_card_that_somebody_asked_for_is_not_asked_for_again(cortex: Cortex, desk: Desk) -> None:
    from engramdown.sleep.worker import fill_card

    spoken(cortex, "s1")
    fill_card(cortex.scopes, episodes(cortex), "s1")
    assert round_of(cortex).deeds == []
    assert len(desk.asked) == 1


def test_lines_that_are_taken_back_while_a_model_thinks_leave_no_card(
    cortex: Cortex, desk: Desk
) -> None:
    spoken(cortex, "s1")
    other = episodes(cortex.reopened())
    desk.meanwhile = lambda: other.forgetting().exclude("s1", [1])
    assert round_of(cortex).deeds == []
    assert title(cortex, "s1") == ""
    desk.meanwhile = lambda: None
    assert deeds(round_of(cortex)) == [("card", "s1")]


def test_a_session_that_is_forgotten_while_a_model_thinks_stays_away(
    cortex: Cortex, desk: Desk
) -> None:
    spoken(cortex, "s1")
    spoken(cortex, "s2")
    other = episodes(cortex.reopened())
    desk.meanwhile = lambda: desk.sessions == ["s1"] and other.forgetting().purge("s1")
    assert deeds(round_of(cortex)) == [("card", "s2")]
    assert not [name for name in files(cortex) if "gists/s1" in name]
    assert '"s1"' not in (episodes(cortex).folder.parent / NAME).read_text(encoding="utf-8")


def test_without_a_model_sessions_wait_and_that_is_said(cortex: Cortex) -> None:
    spoken(cortex, "s1")
    summary = round_of(cortex)
    assert (summary.deeds, summary.waits, summary.left) == ([], "no model is set", 1)
    assert (summary.model, summary.trouble) == ("", "")


# ---- what fails ----


def test_an_answer_of_no_use_keeps_nobody_else_waiting_and_is_tried_five_times(
    cortex: Cortex, desk: Desk
) -> None:
    for name in ("bad", "good"):
        spoken(cortex, name)
    desk.answers["bad"] = ModelError("no JSON", "malformed")
    with freeze_time(f"{DAY} 10:00") as clock:
        summary = round_of(cortex)
        assert deeds(summary) == [("card", "good")]
        assert deeds(summary, "failed") == [("card", "bad")]
        assert summary.trouble == "bad: no JSON"
        for minutes, calls in ((4, 1), (1, 2), (5, 2), (5, 3), (20, 4), (39, 4), (1, 5)):
            clock.tick(minutes * 60)
            summary = round_of(cortex)
            assert desk.sessions.count("bad") == calls
        clock.tick(1_000_000)
        assert round_of(cortex).given_up == 1
    assert desk.sessions == ["bad", "good", *["bad"] * 4]
    desk.answers.clear()
    spoken(cortex, "bad", "And on it goes.")
    assert deeds(round_of(cortex)) == [("card", "bad")]


def test_how_often_it_is_tried_can_be_set(cortex: Cortex, desk: Desk) -> None:
    settings(cortex, attempts=1)
    spoken(cortex, "bad")
    desk.answers["bad"] = ModelError("no JSON", "malformed")
    round_of(cortex)
    with freeze_time("2099-01-01"):
        assert round_of(cortex).given_up == 1
    assert len(desk.asked) == 1


@pytest.mark.slow
def test_a_model_that_is_not_there_is_asked_ever_less_often(cortex: Cortex, desk: Desk) -> None:
    for number in range(20):
        spoken(cortex, f"s{number:03}")
    desk.away = True
    with freeze_time(f"{DAY} 10:00") as clock:
        summary = round_of(cortex)
        assert len(desk.asked) == 2
        assert (summary.waits, summary.left) == ("nobody is there", 18)
        for _ in range(24 * 12):
            clock.tick(300)
            summary = round_of(cortex)
        assert len(desk.asked) < 60
        assert "asked again from 2026-03-0" in summary.waits
        desk.away = False
        asked = len(desk.asked)
        for _ in range(40):
            clock.tick(300)
            summary = round_of(cortex)
    # Nobody is given up because of it.
    assert (summary.left, summary.given_up) == (0, 0)
    assert len(desk.asked) - asked == 20
    assert sorted(desk.sessions[asked:]) == [f"s{number:03}" for number in range(20)]


def test_a_single_session_finds_out_too_that_the_model_is_not_there(
    cortex: Cortex, desk: Desk
) -> None:
    spoken(cortex, "s1")
    desk.away = True
    with freeze_time(f"{DAY} 10:00") as clock:
        round_of(cortex)
        clock.tick(200)
        round_of(cortex)
        assert len(desk.asked) == 1
        clock.tick(200)
        desk.away = False
        assert deeds(round_of(cortex)) == [("card", "s1")]


def test_a_session_by_which_only_itself_fails_is_given_up_in_the_end(
    cortex: Cortex, desk: Desk
) -> None:
    desk.answers["poison"] = ModelError("too slow", "timeout")
    spoken(cortex, "poison")
    with freeze_time(f"{DAY} 10:00") as clock:
        for number in range(8):
            spoken(cortex, f"s{number}")
            assert ("card", f"s{number}") in deeds(round_of(cortex))
            clock.tick(7200)
        assert round_of(cortex).given_up == 1
    assert desk.sessions.count("poison") == 5


def test_a_limit_counts_against_nobody(cortex: Cortex, desk: Desk) -> None:
    limits = cortex.scopes.settings.consolidation._replace(calls_per_run=1)
    cortex.scopes.settings = cortex.scopes.settings._replace(consolidation=limits)
    for name in ("s1", "s2", "s3"):
        spoken(cortex, name)
    summary = round_of(cortex)
    assert (deeds(summary), summary.left) == ([("card", "s1")], 2)
    assert "calls_per_run" in summary.waits
    assert deeds(round_of(cortex)) == [("card", "s2")]
    assert desk.sessions == ["s1", "s2"]
    assert {call.job for call in ledger_of(cortex.scopes).known().calls} == {"card"}


def test_a_session_that_cannot_be_read_keeps_nobody_else_waiting(
    cortex: Cortex, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("s1", "s2"):
        spoken(cortex, name)
    read = type(episodes(cortex)).session

    def broken(self: Any, session: str) -> Any:  # noqa: ANN401 - as it is
        if session == "s1":
            raise PermissionError(13, "Permission denied", "s1.jsonl")
        return read(self, session)

    monkeypatch.setattr("engramdown.episodes.memory.EpisodicMemory.session", broken)
    summary = round_of(cortex)
    assert deeds(summary) == [("card", "s2")]
    assert deeds(summary, "failed") == [("card", "s1")]
    assert desk.sessions == ["s2"]


def test_a_card_that_cannot_be_kept_is_not_paid_for_again_and_again(
    cortex: Cortex, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("s1", "s2"):
        spoken(cortex, name)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with freeze_time(f"{DAY} 10:00") as clock:
        with monkeypatch.context() as patch:
            patch.setattr("engramdown.episodes.card.CardFiles.fill", full)
            assert "No space left" in round_of(cortex).failed
            assert desk.sessions == ["s1"]
            round_of(cortex)
            assert desk.sessions == ["s1", "s2"]
            assert round_of(cortex).failed == ""
            assert len(desk.asked) == 2
        clock.tick(300)
        assert deeds(round_of(cortex)) == [("card", "s1"), ("card", "s2")]


def test_a_folder_of_cards_that_is_none_is_told(cortex: Cortex, desk: Desk) -> None:
    spoken(cortex, "s1")
    (episodes(cortex).folder.parent / "gists").write_bytes(b"")
    assert "gists" in round_of(cortex).failed
    assert desk.asked == []


def test_a_state_that_cannot_be_written_is_told_and_nobody_is_asked(
    cortex: Cortex, desk: Desk
) -> None:
    spoken(cortex, "s1")
    (episodes(cortex).folder.parent / NAME).mkdir()
    summary = round_of(cortex)
    assert NAME in summary.failed
    assert desk.asked == []


# ---- whose turn it is ----


def test_one_works_at_a_time_and_whoever_comes_second_is_told(cortex: Cortex, desk: Desk) -> None:
    spoken(cortex, "s1")
    with SleepLock(episodes(cortex).folder.parent, LOCK).hold():
        summary = round_of(cortex)
    assert f"process {os.getpid()}" in summary.busy
    assert (summary.deeds, desk.asked) == ([], [])
    assert deeds(round_of(cortex)) == [("card", "s1")]


def test_a_sleep_keeps_no_card_waiting(cortex: Cortex, desk: Desk) -> None:
    spoken(cortex, "s1")
    with SleepLock(episodes(cortex).folder.parent).hold():
        assert deeds(round_of(cortex)) == [("card", "s1")]
    assert desk.sessions == ["s1"]


def test_it_stops_before_the_next_session_and_goes_on_there(cortex: Cortex, desk: Desk) -> None:
    for name in ("s1", "s2", "s3"):
        spoken(cortex, name)
    summary = round_of(cortex, should_stop=lambda: len(desk.asked) == 2)
    assert summary.stopped
    assert desk.sessions == ["s1", "s2"]
    assert deeds(round_of(cortex)) == [("card", "s3")]


def test_it_stops_in_a_pause(cortex: Cortex, desk: Desk) -> None:
    for name in ("s1", "s2"):
        spoken(cortex, name)
    stopped: list[float] = []
    summary = round_of(cortex, rest=stopped.append, should_stop=lambda: bool(stopped))
    assert summary.stopped
    assert desk.sessions == ["s1"]


def test_it_stops_before_it_closes_anything(cortex: Cortex) -> None:
    with freeze_time(f"{DAY} 10:00"):
        spoken(cortex, "s1", end=False)
    assert round_of(cortex, should_stop=lambda: True).deeds == []


def test_sessions_that_came_with_git_are_shown_to_no_model(
    cortex: Cortex, desk: Desk, project: Path, child_env: dict[str, str]
) -> None:
    import subprocess

    spoken(cortex, "theirs")
    transcript = ".engramdown/episodes/theirs.jsonl"
    for arguments in (["init", "-q"], ["add", "-f", transcript]):
        subprocess.run(["git", *arguments], cwd=project, check=True, env=child_env)
    spoken(cortex, "ours")
    summary = round_of(cortex)
    assert (deeds(summary), summary.not_ours) == ([("card", "ours")], 1)
    assert desk.sessions == ["ours"]


@pytest.mark.parametrize("idle", [0, 20])
def test_a_dry_run_writes_nothing_and_asks_nobody(idle: float, cortex: Cortex, desk: Desk) -> None:
    settings(cortex, batch=2)
    idle_after(cortex, idle)
    with freeze_time(f"{DAY} 10:00"):
        spoken(cortex, "old", end=False)
    empties(cortex, 1)
    for name in ("s1", "s2"):
        spoken(cortex, name)
    before = files(cortex)
    with freeze_time(f"{DAY} 20:00"):
        summary = round_of(cortex, dry_run=True)
    assert deeds(summary, "would") == [
        *(("orphan", "old"), ("card", "old"), ("empty", "empty000"), ("card", "s1"))
    ]
    assert (summary.left, summary.dry_run) == (1, True)
    assert files(cortex) == before
    assert desk.asked == []


def test_memory_that_is_switched_off_is_left_alone(cortex: Cortex, desk: Desk) -> None:
    spoken(cortex, "s1")
    cortex.mode = "off"
    assert round_of(cortex).skipped == "memory is switched off"
    assert desk.asked == []


def test_where_nothing_was_recorded_nothing_is_created(cortex: Cortex) -> None:
    before = files(cortex)
    assert round_of(cortex) == WorkSummary()
    assert files(cortex) == before


def test_what_was_about_to_be_told_when_a_program_ended_is_told_by_the_next(
    cortex: Cortex, desk: Desk
) -> None:
    with freeze_time(f"{DAY} 10:00"), cortex.session("s1") as session:
        session.begin_turn("This is session s1.")
    with freeze_time(f"{DAY} 10:01"):
        assert deeds(round_of(cortex.reopened())) == [("card", "s1")]
    assert desk.sessions == ["s1"]
