"""engramdown worker, as a person and as a program run it, and as they stop it."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from engramdown import Cortex
from engramdown.cli import sleep as said
from engramdown.cli import views
from engramdown.cli.output import STOPPED
from engramdown.errors import ModelError
from engramdown.sleep.worker import LOCK
from engramdown.storage.locks import SleepLock
from tests.cli.conftest import Runner
from tests.cli.program import Program
from tests.cli.terminal import Terminal
from tests.conftest import PATIENCE
from tests.consolidation.provider import Provider, Reply, answering, failing, serving
from tests.cortex.desk import Desk, spoken

CARD = {"title": "Moving", "one_liner": "", "paragraph": "", "decisions": []}


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Desk:
    """Let a model sit there."""
    desk = Desk()
    monkeypatch.setattr("engramdown.gate.model_runs._model", lambda *_: desk)
    return desk


@pytest.fixture
def home(isolated_home: Path) -> Path:
    """Return the folder of the global scope, where the worker makes no pause."""
    folder = isolated_home / ".engramdown"
    folder.mkdir(exist_ok=True)
    (folder / "config.toml").write_text("[worker]\npause = 0\n", encoding="utf-8")
    return folder


@pytest.fixture
def sessions(memory: Path, home: Path) -> Callable[..., None]:
    """Return what records sessions that ended."""
    del home

    def record(*names: str) -> None:
        cortex = Cortex.open(memory.parents[1])
        for name in names:
            spoken(cortex, name)

    return record


def asks(home: Path, url: str, more: str = "") -> None:
    """Let a provider on this machine be asked."""
    model = f'[consolidation]\nmodel = "openai/test"\nbase_url = "{url}"\n{more}'
    (home / "config.toml").write_text(f"{model}\n[worker]\npause = 0\n", encoding="utf-8")


def without_time(text: str) -> list[str]:
    """Return lines without the time at their beginning."""
    return [line[10:] if line[2:3] == ":" else line for line in text.split("\n")[:-1]]


# ---- one round ----


def test_it_says_what_it_did_and_then_that_nothing_is_due(
    run: Runner, sessions: Callable[..., None], home: Path, desk: Desk
) -> None:
    config = "[worker]\npause = 0\n[consolidation]\nextract_facts = true\n"
    (home / "config.toml").write_text(config, encoding="utf-8")
    desk.facts = [{"text": "Home: Berlin", "kind": "profile", "messages": [1]}]
    sessions("s1", "s2")
    done = run.ok("worker", "--once")
    assert done.err == ""
    *lines, cost = without_time(done.out)
    assert lines == [
        "Card: About s1 (s1)",
        "Card: About s2 (s2)",
        "Facts: 1 remembered (s1)",
        "          remembered: Home: Berlin",
        "Facts: 1 known already (s2)",
    ]
    assert cost.startswith("4 calls of desk, ")
    assert run.ok("worker", "--once").out == f"{said.NOTHING}\n"


def test_what_nobody_ended_is_ended(run: Runner, memory: Path, home: Path) -> None:
    del home
    cortex = Cortex.open(memory.parents[1])
    assert cortex.episodes is not None
    at = datetime(2026, 1, 1, tzinfo=UTC)
    for name in ("s1", "empty"):
        cortex.episodes.log(name, "user" if name == "s1" else "tool_result", "Hello", at=at)
    cortex.episodes.close()
    assert sorted(without_time(run.ok("worker", "--dry-run").out)[1:]) == [
        "Would end: empty, as nobody had",
        "Would end: s1, as nobody had",
    ]
    assert without_time(run.ok("worker", "--once").out) == [
        "Ended: empty, as nobody had",
        "Ended: s1, as nobody had",
    ]


def test_a_dry_run_asks_nobody_and_ends(
    run: Runner, sessions: Callable[..., None], desk: Desk
) -> None:
    sessions("s1")
    done = run.ok("worker", "--dry-run")
    assert without_time(done.out) == [views.DRY_RUN, "Would ask for the card: s1"]
    assert desk.asked == []


@pytest.mark.usefixtures("home")
def test_without_a_model_it_says_what_waits_for_one(
    run: Runner, sessions: Callable[..., None]
) -> None:
    sessions("s1", "s2")
    done = run.ok("worker", "--once")
    assert done.out == ""
    hint = "`model` under [consolidation] in the global config.toml"
    assert done.err == f"note: left for later, as no model is set ({hint}): 2 sessions\n"


def test_a_program_gets_one_line_for_a_round(
    run: Runner, sessions: Callable[..., None], desk: Desk
) -> None:
    sessions("good", "bad")
    desk.answers["bad"] = ModelError("no JSON", "malformed")
    done = run("worker", "--once", "--json")
    assert (done.code, done.out.count("\n"), done.err) == (1, 1, "")
    data = done.json
    assert (data["model"], data["spent"]["calls"], data["left"]) == ("desk", 2, 0)
    assert [(each["what"], each["session"], each["outcome"]) for each in data["done"]] == [
        *(("card", "good", "done"), ("card", "bad", "failed")),
    ]
    assert [each["text"] for each in data["done"]] == ["About good", "no JSON"]


def test_a_model_that_is_not_there_is_told(
    run: Runner, sessions: Callable[..., None], desk: Desk
) -> None:
    sessions("s1", "s2", "s3")
    desk.away = True
    done = run("worker", "--once")
    assert done.code == 1
    assert "Failed: card of s1: nobody is there" in done.out
    assert done.err == "note: left for later, as nobody is there: 1 session\n"
    again = run.ok("worker", "--once")
    assert "desk gave no answer; it is asked again from 20" in again.err
    assert len(desk.asked) == 2


def test_who_works_already_is_named_and_that_is_no_error(
    run: Runner, sessions: Callable[..., None], memory: Path, desk: Desk
) -> None:
    sessions("s1")
    with SleepLock(memory.parent, LOCK).hold():
        done = run.ok("worker", "--once")
    assert f"note: process {os.getpid()} since " in done.err
    assert desk.asked == []


def test_memory_that_is_switched_off_is_refused(run: Runner, sessions: Callable[..., None]) -> None:
    sessions("s1")
    done = run("--mode", "off", "worker")
    assert (done.code, done.out) == (1, "")
    assert views.OFF in done.err


def test_a_scope_that_cannot_be_written_is_told(
    run: Runner, sessions: Callable[..., None], memory: Path
) -> None:
    sessions("s1")
    (memory.parent / "sleep.jsonl").mkdir()
    done = run("worker", "--once")
    assert done.code == 3
    assert "sleep.jsonl" in done.err


@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize("every", ["0", "-1", "soon"])
def test_it_has_to_rest(every: str, run: Runner) -> None:
    assert run("worker", "--every", every).code == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "reply",
    [
        *(answering("{no json"), answering({"title": 7}), answering(CARD, finish="length")),
        *(failing(429, Retry_After="0"), failing(500), failing(401)),
        *(Reply(way="refusal"), Reply(way="hang"), Reply(way="html")),
    ],
    ids=["malformed", "schema", "cut", "429", "500", "401", "refusal", "hang", "html"],
)
def test_a_provider_that_fails_leaves_no_card_and_is_asked_a_bounded_number_of_times(
    reply: Reply, run: Runner, sessions: Callable[..., None], home: Path, memory: Path
) -> None:
    sessions("s1")
    with serving(reply) as url:
        asks(home, url, "timeout = 0.3\nretries = 0\n")
        done = run("worker", "--once")
        calls = len(Provider.seen)
        for _ in range(3):
            run("worker", "--once")
        # It is tried again, but not at once.
        assert len(Provider.seen) == calls
    assert done.code == 1
    assert "Failed: card of s1: openai/test" in " ".join(done.out.split())
    assert not (memory.parent / "gists").exists()


def test_what_a_killed_worker_had_in_hand_a_sleep_finishes(
    run: Runner, sessions: Callable[..., None], home: Path, memory: Path, desk: Desk
) -> None:
    config = "[worker]\npause = 0\n[consolidation]\nextract_facts = true\n"
    (home / "config.toml").write_text(config, encoding="utf-8")
    desk.facts = [{"text": "Deploys are on Mondays", "messages": [1]}]
    sessions("s1")

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("engramdown.gate.scopes.Scopes.propose", die)
        assert run("worker", "--once").code == STOPPED
    run.ok("sleep", "--no-model")
    assert "Deploys are on Mondays" in (memory / "lessons.md").read_text(encoding="utf-8")
    assert [form for form, _ in desk.asked].count("FoundFacts") == 1


# ---- again and again ----


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_in_its_rest(
    number: signal.Signals,
    sessions: Callable[..., None],
    home: Path,
    start: Callable[..., Program],
) -> None:
    sessions("s1")
    with serving(answering(CARD)) as url:
        asks(home, url)
        worker = start("worker")
        assert worker.line()[10:] == "Card: Moving (s1)\n"
        code, err = worker.end(number)
    assert (code, err in ("", f"{said.STOPPING}\n")) == (0, True)


@pytest.mark.slow
def test_it_ends_after_the_step_that_it_is_at(
    sessions: Callable[..., None],
    home: Path,
    memory: Path,
    start: Callable[..., Program],
) -> None:
    sessions("s1", "s2")
    thinking, go = threading.Event(), threading.Event()

    def think(_: dict[str, Any]) -> Reply:
        thinking.set()
        assert go.wait(PATIENCE)
        return answering(CARD)

    with serving(think) as url:
        asks(home, url)
        worker = start("worker")
        assert thinking.wait(PATIENCE)
        worker.process.send_signal(signal.SIGTERM)
        assert worker.note() == f"{said.STOPPING}\n"
        go.set()
        out, _ = worker.process.communicate(timeout=PATIENCE)
        assert len(Provider.seen) == 1
    assert worker.process.returncode == 0
    assert out[10:] == b"Card: Moving (s1)\n"
    assert [path.name for path in (memory.parent / "gists").iterdir()] == ["s1.jsonl"]


@pytest.mark.slow
def test_a_second_ctrl_c_ends_it_at_once(
    sessions: Callable[..., None],
    home: Path,
    start: Callable[..., Program],
    run: Runner,
) -> None:
    sessions("s1")
    thinking, go = threading.Event(), threading.Event()

    def think(_: dict[str, Any]) -> Reply:
        thinking.set()
        go.wait(PATIENCE)
        return answering(CARD)

    with serving(think) as url:
        asks(home, url)
        worker = start("worker")
        assert thinking.wait(PATIENCE)
        worker.process.send_signal(signal.SIGINT)
        worker.note()
        assert worker.end(signal.SIGINT)[0] == STOPPED
        go.set()
        assert "Card: Moving (s1)" in run.ok("worker", "--once").out


@pytest.mark.slow
def test_a_reader_that_goes_away_ends_it_after_the_step(
    sessions: Callable[..., None], home: Path, start: Callable[..., Program]
) -> None:
    sessions("s1", "s2")
    with serving(answering(CARD)) as url:
        asks(home, url)
        worker = start("worker", "--every", "0.01")
        worker.close()
        assert worker.process.wait(PATIENCE) == 141
        assert len(Provider.seen) == 1


@pytest.mark.slow
def test_each_round_is_a_line_of_json(
    sessions: Callable[..., None], start: Callable[..., Program]
) -> None:
    sessions("s1")
    worker = start("worker", "--every", "0.01", "--json")
    for _ in range(30):
        data = worker.next()
        assert (data["done"], data["left"], data["waits"]) == ([], 1, "no model is set")
    code, err = worker.end(signal.SIGTERM)
    assert (code, err in ("", f"{said.STOPPING}\n")) == (0, True)


@pytest.mark.slow
def test_what_lasts_is_said_once(
    sessions: Callable[..., None], start: Callable[..., Program]
) -> None:
    sessions("s1")
    worker = start("worker", "--every", "0.01")
    assert worker.note().endswith(": 1 session\n")
    for number in range(2, 5):
        sessions(f"s{number}")
        assert worker.note().endswith(f": {number} sessions\n")


def test_a_person_is_told_how_it_ends(
    sessions: Callable[..., None], child_env: dict[str, str]
) -> None:
    sessions("s1")
    with Terminal(["engramdown", "worker", "--every", "90"], child_env) as terminal:
        terminal.expect("working every 90 seconds; Ctrl-C stops")
        terminal.expect("no model is set")
        assert terminal.interrupt() == 0
