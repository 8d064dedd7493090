"""``context --session`` prints what a model sees next of a conversation."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engramdown import Cortex
from tests.cli.conftest import Runner
from tests.conversation.provider_rules import check_anthropic, check_openai

SESSION = "20260301-101500-4f2a"


@pytest.fixture
def cortex(run: Runner, memory: Path) -> Cortex:
    """Return a cortex whose project remembers a rule, and holds a conversation."""
    run.remember("Never push to main")
    cortex = Cortex.open(memory.parent)
    assert cortex.episodes is not None
    for number in range(12):
        cortex.episodes.log(SESSION, "user", f"Question {number}?")
        cortex.episodes.log(SESSION, "assistant", f"Answer «{number}».")
    return cortex


def test_the_text_is_that_of_the_library(run: Runner, cortex: Cortex) -> None:
    wanted = cortex.conversations.build_context(SESSION, 80_000).text()
    assert run.ok("context", "--session", SESSION).out.rstrip("\n") == wanted.rstrip("\n")
    assert "Never push to main" in wanted


@pytest.mark.usefixtures("cortex")
def test_a_provider_takes_what_is_printed(run: Runner) -> None:
    openai = run.ok("context", "--session", "2026", "--format", "openai").out
    assert check_openai(json.loads(openai)) == []
    anthropic = run.ok("context", "--session", "2026", "--format", "anthropic").out
    assert check_anthropic(json.loads(anthropic)) == []


@pytest.mark.usefixtures("cortex")
def test_json_holds_the_parts_and_what_is_left_out(run: Runner) -> None:
    done = run.ok("context", "--session", SESSION, "--budget", "150", "--json").json
    assert [each["text"] for each in done["messages"]][-1] == "Answer «11»."
    assert (done["session"], done["budget"]) == (SESSION, 150)
    assert done["tokens"] <= 150
    assert {each["reason"] for each in done["dropped"]} >= {"no room for it", "1 do not fit"}
    assert isinstance(done["prompt"], str)


@pytest.mark.usefixtures("cortex")
def test_it_is_explained(run: Runner) -> None:
    done = run.ok("context", "--session", SESSION, "--explain", "--budget", "150")
    assert "project_rules" in done.out
    assert "tokens of 150 in all" in done.out
    assert "no room for it" in done.out


@pytest.mark.usefixtures("cortex")
def test_a_message_says_what_it_is_about(run: Runner) -> None:
    assert run.ok("context", "--session", SESSION, "what", "about", "main?").out


@pytest.mark.usefixtures("cortex")
def test_no_such_session_is_refused(run: Runner) -> None:
    done = run("context", "--session", "nope")
    assert done.code == 1
    assert "nope" in done.err


@pytest.mark.parametrize("option", ["--budget=9", "--format=openai"])
def test_what_is_about_a_conversation_needs_one(run: Runner, memory: Path, option: str) -> None:
    assert memory.is_dir()
    done = run("context", option)
    assert done.code == 2
    assert "--session" in done.err
