"""Sleep does what is due, once, and leaves everything else alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import pytest
from pydantic import BaseModel

from engramdown import Cortex, Engram
from engramdown.episodes.forget import WORK
from engramdown.episodes.memory import EpisodicMemory
from engramdown.errors import ModelError, SettingsError, StoreError
from engramdown.sleep.progress import NAME
from engramdown.sleep.sleep import COMPACTION, Sleep
from engramdown.sleep.steps import JobReport, SleepSummary
from engramdown.storage.locks import SleepLock
from engramdown.transcripts.sessions import Sessions

T = TypeVar("T", bound=BaseModel)
LESSON = {"text": "The lock must be taken first", "cells": [1]}


class Model:
    """Answers by the form that is asked for; what is no answer is raised, or done."""

    name = "scripted"

    def __init__(self, **answers: Any) -> None:  # noqa: ANN401 - any form may be asked for
        """Answer forms by name; ``{}`` for those that are not named."""
        self.answers = answers
        self.asked: list[str] = []
        self.shown: list[str] = []
        self.meanwhile: Callable[[], object] = lambda: None

    def ask(self, schema: type[T], system: str, user: str) -> T:
        """Return the answer."""
        self.shown += [system, user]
        self.asked.append(schema.__name__)
        self.meanwhile()
        empty: dict[str, Any] = {
            name: [] for name, it in schema.model_fields.items() if it.is_required()
        }
        answer = self.answers.get(schema.__name__, empty)
        if isinstance(answer, BaseException):
            raise answer
        return schema.model_validate(answer)


def episodes(cortex: Cortex) -> EpisodicMemory:
    """Return the transcripts."""
    found = cortex.episodes
    assert found is not None
    return found


def record(cortex: Cortex, session: str, *said: str, fails: int = 0, end: bool = True) -> None:
    """Record a session in which a user says something and calls fail."""
    memory = episodes(cortex)
    memory.start_session(session)
    for text in said:
        memory.log(session, "user", text)
    for at in range(fails):
        memory.log(session, "scratchpad", f"step {at} of {session}", error="it broke", name="pad")
    if end:
        memory.end(session)
        memory.close()


def report(summary: SleepSummary, job: str, scope: str = "project") -> JobReport:
    """Return the report of a job."""
    return next(it for it in summary.jobs if (it.job, it.scope) == (job, scope))


def texts(cortex: Cortex) -> list[str]:
    """Return what is remembered."""
    return [entry.text for entry in cortex.entries()]


def files(cortex: Cortex) -> dict[str, bytes]:
    """Return every file of both scopes but the transcripts."""
    return {
        str(path): path.read_bytes()
        for store in cortex.scopes.stores
        for path in store.root.rglob("*")
        if path.is_file() and "episodes" not in path.parts
    }


def test_what_a_user_stated_in_a_finished_session_is_learned_once(cortex: Cortex) -> None:
    record(cortex, "s1", "From now on use uv.")
    summary = cortex.sleep()
    [receipt] = report(summary, "statements").receipts
    assert (receipt.action, receipt.engram.origin) == ("encoded", "s1#1")
    assert texts(cortex) == ["Use uv"]
    again = cortex.sleep()
    assert [it.job for it in again.jobs if it.receipts] == []
    assert texts(cortex) == ["Use uv"]


def test_a_session_that_goes_on_is_read_from_where_it_ended(cortex: Cortex) -> None:
    model = Model(Lessons={"items": [LESSON]})
    cortex.scopes.model = model
    record(cortex, "s1", "From now on use uv.", fails=2)
    cortex.sleep()
    cortex.forget(cortex.recall("uv")[0].id)
    record(cortex, "s1", "Never push on Fridays.")
    summary = cortex.sleep()
    assert [it.engram.text for it in report(summary, "statements").receipts] == [
        "Never push on Fridays"
    ]
    assert model.asked.count("Lessons") == 1


def test_a_session_that_runs_is_left_alone(cortex: Cortex) -> None:
    record(cortex, "s1", "From now on use uv.", end=False)
    summary = cortex.sleep()
    assert summary.running == 1
    assert texts(cortex) == []
    episodes(cortex).end("s1")
    assert cortex.sleep().running == 0
    assert texts(cortex) == ["Use uv"]


def test_a_session_runs_and_learns_while_a_model_thinks(cortex: Cortex) -> None:
    record(cortex, "s1", fails=2)
    other = cortex.reopened()
    said: list[Any] = []

    def converse() -> None:
        with other.session("s2") as session:
            session.begin_turn("Hello")
            said.extend(other.propose(Engram("Told meanwhile", "lesson", "project")))
            session.end_turn("Hi")

    cortex.scopes.model = model = Model(Lessons={"items": [LESSON]})
    model.meanwhile = converse
    cortex.sleep()
    assert said[0].action == "encoded"
    assert sorted(texts(cortex)) == [LESSON["text"], "Told meanwhile"]


def test_what_a_person_took_out_is_not_learned(cortex: Cortex) -> None:
    record(cortex, "s1", "From now on use uv.", "Never push on Fridays.")
    episodes(cortex).forgetting().exclude("s1", [1])
    cortex.sleep()
    assert texts(cortex) == ["Never push on Fridays"]


def test_an_older_word_does_not_bring_back_what_was_deleted(cortex: Cortex) -> None:
    record(cortex, "s1", "From now on use uv.")
    [known] = cortex.encode(Engram("Use uv", "always", "project", source="user"))
    cortex.forget(known.id)
    [receipt] = report(cortex.sleep(), "statements").receipts
    assert receipt.action == "discarded"
    assert texts(cortex) == []


def test_an_older_word_against_what_was_written_since_waits(cortex: Cortex) -> None:
    record(cortex, "s1", "My name is Ada.")
    cortex.encode(Engram("Name: Grace", "profile", "global", "high", source="user"))
    [receipt] = report(cortex.sleep(), "statements").receipts
    assert receipt.action == "queued"
    assert texts(cortex) == ["Name: Grace"]


# ---- models ----


def test_a_model_is_not_shown_again_what_was_recalled(cortex: Cortex) -> None:
    cortex.scopes.model = model = Model()
    cortex.encode(Engram("Never sail without the red boat", "never", "project"))
    with cortex.session("s1") as session:
        session.begin_turn("Which boat?")
        assert "red boat" in cortex.use_tool("recall", {"query": "boat"}, session).text
        for _ in range(3):
            call = session.tool_call("shell", {"cmd": "row"})
            session.tool_result("shell", "no oars", call, error=True)
        session.end_turn("That one.")
    cortex.sleep()
    assert any("no oars" in shown for shown in model.shown)
    assert not any("red boat" in shown for shown in model.shown)


def test_what_a_model_learned_is_not_asked_again(cortex: Cortex) -> None:
    cortex.scopes.model = model = Model(Lessons={"items": [LESSON]})
    record(cortex, "s1", fails=2)
    summary = cortex.sleep()
    assert summary.model == "scripted"
    assert summary.spent.calls == len(model.asked) > 0
    assert report(summary, "replay").receipts[0].action == "encoded"
    model.asked.clear()
    assert cortex.sleep().spent.calls == 0
    assert model.asked == []


@pytest.mark.parametrize(
    "outcome", ["timeout", "rate_limited", "server_error", "unreachable", "unauthorized"]
)
def test_trouble_that_lasts_ends_asking_and_leaves_the_rest_for_later(
    cortex: Cortex, outcome: str
) -> None:
    cortex.scopes.model = model = Model(Lessons=ModelError("no answer", outcome))
    for session in ("s1", "s2", "s3"):
        record(cortex, session, fails=2)
    before = texts(cortex)
    told = report(cortex.sleep(), "replay")
    assert (told.steps, told.skipped, told.left, told.waits) == (0, "no answer", 3, False)
    assert model.asked == ["Lessons"]
    assert texts(cortex) == before
    model.answers["Lessons"] = {"items": [LESSON]}
    assert report(cortex.sleep(), "replay").steps == 3


def test_a_limit_that_is_reached_is_told(cortex: Cortex) -> None:
    cortex.scopes.model = model = Model(Lessons={"items": [LESSON]})
    limits = cortex.scopes.settings.consolidation._replace(calls_per_run=1)
    cortex.scopes.settings = cortex.scopes.settings._replace(consolidation=limits)
    for session in ("s1", "s2"):
        record(cortex, session, fails=2)
    told = report(cortex.sleep(), "replay")
    assert told.steps == 1
    assert told.left == 1
    assert "calls_per_run" in told.skipped
    assert len(model.asked) == 1


def test_an_answer_of_no_use_is_asked_for_three_times(cortex: Cortex) -> None:
    cortex.scopes.model = model = Model(Lessons=ModelError("no JSON", "malformed"))
    record(cortex, "s1", fails=2)
    record(cortex, "s2", fails=2)
    before = {name: data for name, data in files(cortex).items() if "memory" in name}
    for _ in range(3):
        told = report(cortex.sleep(), "replay")
        assert told.problems == ["s1: no JSON", "s2: no JSON"]
    assert [it.problems for it in cortex.sleep().jobs if it.job == "replay"] == []
    assert model.asked.count("Lessons") == 6
    assert {name: data for name, data in files(cortex).items() if "memory" in name} == before
    record(cortex, "s1", fails=2)
    assert report(cortex.sleep(), "replay").problems == ["s1: no JSON"]


def test_an_answer_that_names_what_it_was_not_given_is_refused_and_told(cortex: Cortex) -> None:
    record(cortex, "s1", fails=2)
    cortex.scopes.model = model = Model(Lessons={"items": [{**LESSON, "cells": [9]}]})
    for _ in range(3):
        told = report(cortex.sleep(), "replay")
        assert "it names 9, which it was not given" in told.problems[0]
    assert [it.problems for it in cortex.sleep().jobs if it.job == "replay"] == []
    assert model.asked.count("Lessons") == 6
    assert texts(cortex) == []


def test_one_lesson_that_names_what_was_not_given_keeps_none_of_the_others_out(
    cortex: Cortex,
) -> None:
    wrong = {"text": "The moon is made of cheese", "cells": [1, 9]}
    cortex.scopes.model = model = Model(Lessons={"items": [wrong, LESSON]})
    record(cortex, "s1", fails=2)
    told = report(cortex.sleep(), "replay")
    assert [receipt.action for receipt in told.receipts] == ["encoded"]
    assert told.refused == ["a memory is refused: it names 9, which it was not given"]
    assert texts(cortex) == [LESSON["text"]]
    cortex.sleep()
    assert model.asked.count("Lessons") == 1


@pytest.mark.parametrize("why", ["no model is set", "no model was to be asked"])
def test_without_a_model_the_rest_is_done(cortex: Cortex, why: str) -> None:
    use_model = why == "no model is set"
    if not use_model:
        cortex.scopes.model = Model(Lessons={"items": [LESSON]})
    record(cortex, "s1", "From now on use uv.", fails=2)
    summary = cortex.sleep(use_model=use_model)
    told = report(summary, "replay")
    assert (told.skipped, told.left, told.waits) == (why, 1, True)
    assert summary.model == ""
    assert texts(cortex) == ["Use uv"]


def test_a_session_in_which_there_is_nothing_to_ask_about_does_not_wait(cortex: Cortex) -> None:
    record(cortex, "s1", "From now on use uv.")
    record(cortex, "s2", fails=2)
    for _ in range(2):
        summary = cortex.sleep()
        assert report(summary, "replay").left == 1
        assert report(summary, "cerebellum").left == 1
        assert not [it for it in summary.jobs if it.job == "identity"]
    cortex.scopes.model = model = Model(Lessons={"items": [LESSON]})
    cortex.sleep()
    assert model.asked == ["Lessons", "ScratchpadLessons"]


def test_what_was_too_little_counts_when_a_session_goes_on(cortex: Cortex) -> None:
    cortex.scopes.model = model = Model(Lessons={"items": [{**LESSON, "cells": [1, 2]}]})
    record(cortex, "s1", fails=1)
    cortex.sleep()
    assert "Lessons" not in model.asked
    record(cortex, "s1", fails=1)
    [receipt] = report(cortex.sleep(), "replay").receipts
    assert receipt.engram.origin == "s1#1,s1#3"
    cortex.sleep()
    assert model.asked.count("Lessons") == 1


def test_what_waits_is_not_read_again_to_know_it(
    cortex: Cortex, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(cortex, "s1", *["Hello"] * 5, fails=2)
    waiting = [(it.job, it.left) for it in cortex.sleep().jobs]
    read: list[str] = []
    monkeypatch.setattr(Sessions, "read", lambda _, session: read.append(session))
    assert [(it.job, it.left) for it in cortex.sleep().jobs if it.job != "statements"] == [
        each for each in waiting if each[0] not in ("statements", "mistakes")
    ]
    assert read == []


def test_what_is_no_model_is_said_before_anything_is_done(cortex: Cortex) -> None:
    record(cortex, "s1", "From now on use uv.")
    cortex.scopes.model = 7
    with pytest.raises(SettingsError):
        cortex.sleep()
    assert texts(cortex) == []


def test_turns_in_which_something_went_otherwise_cost_a_call_at_most(cortex: Cortex) -> None:
    text = "The pad wants its imports again"
    cortex.scopes.model = model = Model(
        ScratchpadLessons={"lessons": [{"text": text, "cells": [2]}]}
    )
    memory = episodes(cortex)
    memory.start_session("s1")
    for turn in range(3):
        memory.log("s1", "user", f"Count {turn}")
        memory.log("s1", "scratchpad", f"pad {turn}", error="no pandas", name="pad")
    memory.end("s1")
    cortex.sleep()
    assert model.asked.count("ScratchpadLessons") == 1
    assert text in str(cortex.get_scratchpad_context())
    [entry] = [it for it in cortex.entries() if it.topic == "scratchpad"]
    assert (entry.kind, entry.origin) == ("lesson", "s1#4")


def test_turns_in_which_all_went_well_cost_nothing(cortex: Cortex) -> None:
    cortex.scopes.model = model = Model()
    memory = episodes(cortex)
    memory.start_session("s1")
    for turn in range(4):
        memory.log("s1", "user", f"Count {turn}")
        memory.log("s1", "scratchpad", f"pad {turn}", name="pad")
    memory.end("s1")
    cortex.sleep()
    assert model.asked == []


# ---- compaction ----


THINGS = [
    *("amber", "basalt", "copper", "denim", "ebony", "flannel", "granite", "hemp", "iron"),
    *("jade", "kelp", "linen", "marble", "nylon", "oak", "paper", "quartz", "rubber"),
    *("silk", "teak", "umber"),
]


def crowd(cortex: Cortex, count: int = 21) -> None:
    """Write more lessons than a file should hold."""
    cortex.encode(
        [Engram(f"{what.title()} is kept at home", "lesson", "project") for what in THINGS[:count]]
    )


def test_duplicates_go_without_a_model(cortex: Cortex) -> None:
    crowd(cortex, 2)
    path = cortex.scopes.stores[1].memory / "lessons.md"
    text = path.read_text(encoding="utf-8")
    path.write_text(f"{text}- Amber is kept at home <!-- id:dddddddd source:llm -->\n", "utf-8")
    told = report(cortex.sleep(), COMPACTION)
    assert [it.action for it in told.compacted] == ["applied"]
    assert len(cortex.entries()) == 2


def test_a_model_is_asked_about_a_crowded_file_once(cortex: Cortex) -> None:
    cortex.scopes.model = model = Model()
    crowd(cortex)
    cortex.sleep()
    cortex.sleep()
    assert len(model.asked) == 1
    cortex.encode(Engram("Something else", "lesson", "project"))
    cortex.sleep()
    assert len(model.asked) == 2


def test_a_compaction_that_fails_is_told_and_tried_again(cortex: Cortex) -> None:
    crowd(cortex)
    cortex.scopes.model = model = Model(Compaction=ModelError("busy", "timeout"))
    before = {name: data for name, data in files(cortex).items() if name.endswith(".md")}
    assert report(cortex.sleep(), COMPACTION).problems == ["busy"]
    assert {name: data for name, data in files(cortex).items() if name.endswith(".md")} == before
    assert len(model.asked) == 1
    model.answers = {}
    assert report(cortex.sleep(), COMPACTION).problems == []
    assert len(model.asked) == 2


def test_a_crowded_file_waits_for_a_model(cortex: Cortex) -> None:
    crowd(cortex)
    told = report(cortex.sleep(), COMPACTION)
    assert (told.skipped, told.left, told.waits) == ("no model is set", 1, True)


# ---- who else is there ----


def test_a_scope_on_which_somebody_sleeps_is_left_to_them(cortex: Cortex) -> None:
    record(cortex, "s1", "From now on use uv.")
    with SleepLock(cortex.scopes.stores[1].root).hold():
        summary = cortex.sleep()
    assert list(summary.busy) == ["project"]
    assert "since" in summary.busy["project"]
    assert texts(cortex) == []
    assert report(summary, COMPACTION, "global").steps == 1
    assert cortex.sleep().busy == {}
    assert texts(cortex) == ["Use uv"]


def test_one_scope_can_be_asked_for(cortex: Cortex) -> None:
    record(cortex, "s1", "From now on use uv.")
    assert {it.scope for it in cortex.sleep(scope="global").jobs} == {"global"}
    assert texts(cortex) == []


def test_memory_that_is_switched_off_is_left_alone(cortex: Cortex) -> None:
    record(cortex, "s1", "From now on use uv.")
    cortex.mode = "off"
    before = files(cortex)
    assert cortex.sleep().skipped == "memory is switched off"
    assert files(cortex) == before


def test_a_scope_that_cannot_be_written_is_told_and_finished_later(
    cortex: Cortex, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(cortex, "s1", "From now on use uv.")

    def full(*_: object) -> object:
        raise StoreError("rules.md: no space left")

    with monkeypatch.context() as patch:
        patch.setattr("engramdown.hippocampus.files.MemoryFiles.change", full)
        summary = cortex.sleep()
    assert summary.failed == {"project": "rules.md: no space left"}
    assert (cortex.scopes.stores[1].root / WORK).exists()
    cortex.sleep()
    assert texts(cortex) == ["Use uv"]
    assert not (cortex.scopes.stores[1].root / WORK).exists()


def test_it_stops_between_two_steps_and_goes_on_there(cortex: Cortex) -> None:
    for at in range(3):
        record(cortex, f"s{at}", f"From now on use tool{at}.")
    stops = iter([False, True])
    summary = cortex.sleep(should_stop=lambda: next(stops))
    assert summary.stopped
    assert len(texts(cortex)) == 1
    assert not cortex.sleep().stopped
    assert len(texts(cortex)) == 3


# ---- a dry run ----


def test_a_dry_run_writes_nothing_and_asks_nobody(cortex: Cortex) -> None:
    crowd(cortex)
    cortex.scopes.model = model = Model(Lessons={"items": [LESSON]})
    record(cortex, "s1", "From now on use uv. My key is AKIAIOSFODNN7EXAMPLE.", fails=2)
    before = files(cortex)
    summary = cortex.sleep(dry_run=True)
    assert files(cortex) == before
    assert model.asked == []
    assert summary.dry_run
    assert report(summary, "replay").steps == 1
    assert ("encoded", "Use uv") in [
        (it.action, it.engram.text) for it in report(summary, "statements").receipts
    ]
    cortex.sleep()
    assert "Use uv" in texts(cortex)


def test_a_dry_run_leaves_what_is_in_hand(cortex: Cortex) -> None:
    interrupted(cortex, "propose")
    before = files(cortex)
    cortex.sleep(dry_run=True)
    assert files(cortex) == before


# ---- after a crash ----


def interrupted(cortex: Cortex, where: str) -> None:
    """Let a sleep learn from a model, and end it at a call of the cortex."""
    record(cortex, "s1", fails=2)
    summary = interrupted_at(cortex, where, Lessons={"items": [LESSON]})
    assert report(summary, "replay").steps == 1


def interrupted_at(cortex: Cortex, where: str, **answers: object) -> SleepSummary:
    """Let a sleep learn from a model that answers so, and end it at a call of the cortex."""
    cortex.scopes.model = Model(**answers)

    def die(*_: object) -> object:
        raise KeyboardInterrupt

    sleeping = Sleep(cortex.scopes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(f"engramdown.gate.scopes.Scopes.{where}", die)
        with pytest.raises(KeyboardInterrupt):
            sleeping.run()
    return sleeping.summary


def test_what_a_model_answered_before_a_crash_is_not_asked_again(cortex: Cortex) -> None:
    interrupted(cortex, "propose")
    cortex.scopes.model = model = Model(Lessons={"items": [{**LESSON, "text": "In other words"}]})
    summary = cortex.sleep()
    assert "Lessons" not in model.asked
    assert report(summary, "replay").receipts[0].action == "encoded"
    assert texts(cortex) == [LESSON["text"]]
    assert not (cortex.scopes.stores[1].root / WORK).exists()


def test_what_was_taken_out_after_a_crash_is_not_written(cortex: Cortex) -> None:
    interrupted(cortex, "propose")
    episodes(cortex).forgetting().exclude("s1", [1])
    cortex.scopes.model = None
    cortex.sleep()
    assert texts(cortex) == []
    assert not (cortex.scopes.stores[1].root / WORK).exists()


def test_what_was_taken_out_while_a_model_thought_is_not_written(cortex: Cortex) -> None:
    record(cortex, "s1", fails=3)
    cortex.scopes.model = model = Model(Lessons={"items": [LESSON]})
    other = episodes(cortex.reopened())
    model.meanwhile = lambda: other.forgetting().redact("s1", [1])
    summary = cortex.sleep()
    assert report(summary, "replay").problems == ["s1: was changed meanwhile"]
    assert texts(cortex) == []
    assert not (cortex.scopes.stores[1].root / WORK).exists()
    model.meanwhile = lambda: None
    model.answers = {}
    assert report(cortex.sleep(), "replay").problems == []


@pytest.mark.parametrize("how", ["redact", "purge"])
def test_what_is_in_hand_goes_with_what_taught_it(cortex: Cortex, how: str) -> None:
    interrupted(cortex, "propose")
    record(cortex, "s2", "Hello")
    root = cortex.scopes.stores[1].root
    torn = root / f"{WORK}.1-0011aabb.part"
    torn.write_bytes((root / WORK).read_bytes()[:-20])
    forgetting = episodes(cortex).forgetting()
    forgetting.redact("s2", [1])
    assert (root / WORK).exists()
    told = forgetting.redact("s1", [1]) if how == "redact" else forgetting.purge("s1")
    assert {torn, root / WORK} <= set(told.files)
    held = [path for path in root.rglob("*") if path.is_file()]
    assert not [path for path in held if b"The lock must be taken" in path.read_bytes()]


def test_a_secret_is_not_kept_in_hand_nor_once_it_is_redacted_anywhere(cortex: Cortex) -> None:
    secret = "AKIAIOSFODNN7QXAMPLZ"
    told = f"Remember that the key of the test account is {secret}. From now on use uv."
    record(cortex, "s1", told)
    interrupted_at(cortex, "propose")
    roots = [store.root for store in cortex.scopes.stores]

    def holding() -> list[str]:
        found = (path for root in roots for path in root.rglob("*") if path.is_file())
        return sorted(path.name for path in found if secret.encode() in path.read_bytes())

    assert (cortex.scopes.stores[1].root / WORK).exists()
    assert holding() == []  # it is hidden as it is recorded
    episodes(cortex).forgetting().redact("s1", [1])
    assert holding() == []
    cortex.sleep()
    assert holding() == []
    assert cortex.pending() == []


def test_what_is_gone_after_a_crash_is_not_written(cortex: Cortex) -> None:
    interrupted(cortex, "propose")
    (cortex.scopes.stores[1].root / "episodes" / "s1.jsonl").unlink()
    cortex.sleep()
    assert texts(cortex) == []
    assert not (cortex.scopes.stores[1].root / WORK).exists()


def test_what_is_done_is_not_done_again_after_a_crash_at_the_end(cortex: Cortex) -> None:
    record(cortex, "s1", fails=2)
    cortex.scopes.model = Model(Lessons={"items": [LESSON]})
    remove = "engramdown.storage.disk.Disk.unlink"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(remove, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            cortex.sleep()
    cortex.forget(cortex.entries()[0].id)
    assert [it for it in cortex.sleep().jobs if it.receipts] == []
    assert texts(cortex) == []


def test_a_lost_state_costs_time_and_nothing_else(cortex: Cortex) -> None:
    cortex.mode = "copilot"
    cortex.scopes.model = Model(Lessons={"items": [LESSON]})
    record(cortex, "s1", "From now on use uv.", fails=2)
    cortex.sleep()
    before = {name: data for name, data in files(cortex).items() if name.endswith(".md")}
    assert len(cortex.pending()) == 1
    (cortex.scopes.stores[1].root / NAME).unlink()
    cortex.sleep()
    assert {name: data for name, data in files(cortex).items() if name.endswith(".md")} == before


@pytest.mark.parametrize("mode", ["autopilot", "copilot"])
def test_what_gave_way_does_not_come_back_when_it_is_learned_again(
    cortex: Cortex, mode: str
) -> None:
    cortex.mode = mode
    said = "Take the lock first", "Please take the lock first"
    cortex.encode([Engram(text, "lesson", "project", source="llm", origin="s0#1") for text in said])
    cortex.compact_all(approved=True)
    [first] = cortex.entries()
    [gone] = set(said) - {first.text}
    record(cortex, "s1", fails=2)
    cortex.scopes.model = Model(Lessons={"items": [{**LESSON, "text": gone}]})
    [receipt] = report(cortex.sleep(), "replay").receipts
    assert (receipt.action, receipt.id) == ("merged", first.id)
    assert texts(cortex) == [first.text]
    assert cortex.pending() == []
    cortex.forget(first.id)
    (cortex.scopes.stores[1].root / NAME).unlink()
    [receipt] = report(cortex.sleep(), "replay").receipts
    assert receipt.action == "discarded"
    assert texts(cortex) == []
    [receipt] = cortex.propose(Engram(gone, "lesson", "project", "high", source="user"))
    assert receipt.action == "encoded"


def test_sessions_are_counted_before_they_are_gone_through(cortex: Cortex) -> None:
    record(cortex, "s1", "From now on use uv.")
    record(cortex, "s2", "Never push on Fridays.")
    sleeping = Sleep(cortex.scopes)
    count = sleeping.count()
    steps: list[int] = []
    sleeping.run(steps.append)
    assert sum(steps) == count > 2
