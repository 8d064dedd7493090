"""A person is asked in their own client, and nobody else decides."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client

from engramdown import Cortex
from engramdown.mcp.elicitation import can_be_asked
from tests.mcp.conftest import ERAS, Asked, beside, run, said

pytestmark = pytest.mark.anyio

SECRET = "AKIA" + "IOSFODNN7EXAMPL7"
TELLS = {"text": f"The bucket's key is {SECRET}", "kind": "lesson"}
"""What a person is asked about in mode copilot: it holds a secret, which is hidden."""


@pytest.fixture
def copilot(project: Path) -> Cortex:
    """Return a memory that asks before it keeps what is not plain."""
    return Cortex.open(project, mode="copilot")


def memorized(cortex: Cortex, asked: Asked | None, era: str, **offered: Any) -> str:  # noqa: ANN401 - what an offer has
    """Return what a model is told when it wants to remember something."""

    async def work() -> str:
        async with beside(cortex, era, asked, **offered) as client:
            return said(await client.call_tool("memorize", TELLS))

    return run(work())


def texts(project: Path) -> list[str]:
    return [entry.text for entry in Cortex.open(project).entries()]


@pytest.mark.parametrize("era", ERAS)
def test_what_a_person_accepts_is_remembered(copilot: Cortex, project: Path, era: str) -> None:
    asked = Asked("accept")
    answer = memorized(copilot, asked, era)
    assert answer.startswith("The user was asked and accepted. Remembered: lessons.md")
    (form,) = asked.seen
    assert "The assistant wants to remember this (a lesson, for this project)" in form.message
    assert "holds a secret" in form.message
    assert SECRET not in form.message
    assert SECRET not in str(form.requested_schema)
    assert texts(project) == [form.requested_schema["properties"]["text"]["default"]]
    assert copilot.pending() == []


@pytest.mark.parametrize("era", ERAS)
def test_a_person_may_change_the_words(copilot: Cortex, project: Path, era: str) -> None:
    answer = memorized(copilot, Asked("accept", text="The key is in the safe"), era)
    assert "In their own words: 'The key is in the safe'" in answer
    assert texts(project) == ["The key is in the safe"]


@pytest.mark.parametrize("era", ERAS)
def test_what_a_person_declines_is_not_kept(copilot: Cortex, project: Path, era: str) -> None:
    assert "declined; do not propose it again" in memorized(copilot, Asked("decline"), era)
    assert texts(project) == []
    assert copilot.pending() == []


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("content", [{}, {"text": ""}, {"text": "  \n"}])
def test_an_empty_form_accepts_the_words_as_they_are(
    copilot: Cortex, project: Path, era: str, content: dict[str, str]
) -> None:
    memorized(copilot, Asked("accept", **content), era)
    (text,) = texts(project)
    assert text.startswith("The bucket's key is [redacted")


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("words", [7, ["x"], "x" * 4_001], ids=["number", "list", "long"])
def test_a_form_that_comes_back_otherwise_decides_nothing(
    copilot: Cortex,
    project: Path,
    era: str,
    words: Any,  # noqa: ANN401 - JSON
) -> None:
    """It is not known what the person wants, and a model is not sent pages of it."""
    answer = memorized(copilot, Asked("accept", text=words), era)
    (waiting,) = copilot.pending()
    assert answer.startswith("What came back from the form of the user is not what it asked for")
    assert answer.endswith(f"so nothing is decided; it waits in pending.md as {waiting.id}.")
    assert texts(project) == []


@pytest.mark.parametrize("era", ERAS)
def test_who_is_asked_twice_at_once_decides_once(copilot: Cortex, project: Path, era: str) -> None:
    class Both(Asked):
        async def __call__(self, context: object, params: object) -> types.ElicitResult:
            done = await super().__call__(context, params)
            while len(self.seen) < 2:  # noqa: ASYNC110 - until both forms are there
                await asyncio.sleep(0)
            return done

    async def work() -> list[str]:
        async with beside(copilot, era, Both("accept")) as client:
            calls = (client.call_tool("memorize", TELLS) for _ in range(2))
            return sorted(said(each) for each in await asyncio.gather(*calls))

    first, second = run(work())
    assert first.startswith("The user was asked and accepted. Remembered: ")
    assert second.endswith("somebody else was quicker. recall shows what is remembered.")
    assert len(texts(project)) == 1
    assert copilot.pending() == []


@pytest.mark.parametrize("era", ERAS)
def test_who_does_not_decide_finds_it_in_pending(copilot: Cortex, era: str) -> None:
    answer = memorized(copilot, Asked("cancel"), era)
    (waiting,) = copilot.pending()
    assert answer == (
        "The user was asked and has not decided; it waits in pending.md as " + waiting.id + "."
    )


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("offered", [{}, {"asks": False}], ids=["no form", "not asked"])
def test_a_client_that_cannot_ask_leaves_it_in_pending(
    copilot: Cortex, era: str, offered: dict[str, object]
) -> None:
    asked = Asked("accept") if offered else None
    answer = memorized(copilot, asked, era, **offered)
    (waiting,) = copilot.pending()
    assert f"It waits in pending.md as {waiting.id}; only the user can decide." in answer
    assert asked is None or asked.seen == []


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("action", ["accept", "decline"])
def test_nobody_decides_on_words_that_they_were_not_shown(
    copilot: Cortex, project: Path, era: str, action: str
) -> None:
    class Slow(Asked):
        async def __call__(self, context: object, params: object) -> types.ElicitResult:
            page = project / ".engramdown" / "memory" / "pending.md"
            text = page.read_text(encoding="utf-8")
            page.write_text(text.replace("The bucket", "Somebody else"), encoding="utf-8")
            return await super().__call__(context, params)

    answer = memorized(copilot, Slow(action), era)
    (waiting,) = copilot.pending()
    assert answer == (
        f"What the user was asked about was changed meanwhile; it waits as {waiting.id}."
    )
    assert waiting.engram.text.startswith("Somebody else")
    assert texts(project) == []


def test_a_person_who_takes_too_long_finds_it_in_pending(copilot: Cortex) -> None:
    class Away(Asked):
        async def __call__(self, context: object, params: object) -> types.ElicitResult:
            await asyncio.sleep(3_600)
            return await super().__call__(context, params)

    answer = memorized(copilot, Away("accept"), "legacy", patience=0.1)
    assert answer.startswith("The user was asked and has not decided")
    assert len(copilot.pending()) == 1


def test_a_client_that_fails_to_ask_leaves_it_in_pending(copilot: Cortex) -> None:
    class Broken(Asked):
        async def __call__(self, context: object, params: object) -> types.ElicitResult:
            del context, params
            raise RuntimeError("no window")

    answer = memorized(copilot, Broken("accept"), "legacy")
    assert answer.startswith("The user was asked and has not decided")
    assert len(copilot.pending()) == 1


@pytest.mark.parametrize("era", ERAS)
def test_what_is_held_without_a_prompt_is_not_asked_about(cortex: Cortex, era: str) -> None:
    asked = Asked("accept")
    answer = memorized(cortex, asked, era)
    assert "It waits in pending.md" in answer
    assert asked.seen == []
    assert len(cortex.pending()) == 1


@pytest.mark.parametrize("era", ERAS)
def test_a_person_is_asked_before_what_they_wrote_is_forgotten(
    cortex: Cortex, project: Path, era: str
) -> None:
    memory = project / ".engramdown" / "memory"
    memory.mkdir()
    (memory / "lessons.md").write_text("- Mine\n- Also mine\n", encoding="utf-8")
    mine = next(entry for entry in cortex.entries() if entry.text == "Mine")
    asked = Asked("accept")

    async def work() -> str:
        async with beside(cortex, era, asked) as client:
            return said(await client.call_tool("forget", {"id": mine.id}))

    assert run(work()) == "The user was asked and accepted. Forgotten."
    (form,) = asked.seen
    assert form.message.startswith("The assistant wants to forget this (a lesson, for this project")
    assert "\n\n    Mine\n\n" in form.message
    assert texts(project) == ["Also mine"]


async def test_only_the_person_of_the_client_that_proposed_is_asked(copilot: Cortex) -> None:
    asked, other = Asked("decline"), Asked("accept")
    async with (
        beside(copilot, "legacy", asked) as client,
        beside(copilot.reopened(), "legacy", other) as beside_it,
    ):
        await client.call_tool("memorize", TELLS)
        await beside_it.call_tool("review", {})
    assert len(asked.seen) == 1
    assert other.seen == []


async def test_a_decision_counts_once_and_only_for_the_call_that_asked(
    copilot: Cortex, project: Path
) -> None:
    """A client that answers what it was not asked decides nothing."""
    async with beside(copilot, "auto", Asked("accept")) as client:
        first = await _raw(client, TELLS)
        assert isinstance(first, types.InputRequiredResult)
        assert first.input_requests is not None
        accepted = {key: types.ElicitResult(action="accept") for key in first.input_requests}
        with pytest.raises(Exception, match="Invalid or expired requestState"):
            await _raw(client, TELLS, accepted, "made up")
        with pytest.raises(Exception, match="Invalid or expired requestState"):
            await _raw(client, {**TELLS, "kind": "never"}, accepted, first.request_state)
        assert len(copilot.pending()) == 1
        done = await _raw(client, TELLS, accepted, first.request_state)
        assert isinstance(done, types.CallToolResult)
        again = await _raw(client, TELLS, accepted, first.request_state)
        assert isinstance(again, types.CallToolResult)
        assert "somebody else was quicker" in said(again)
    assert len(texts(project)) == 1


async def _raw(
    client: Client,
    arguments: dict[str, str],
    responses: dict[str, types.ElicitResult] | None = None,
    state: str | None = None,
) -> types.CallToolResult | types.InputRequiredResult:
    return await client.session.call_tool(
        "memorize",
        arguments,
        input_responses=dict(responses) if responses else None,
        request_state=state,
        allow_input_required=True,
    )


def test_a_decision_that_cannot_be_carried_out_leaves_it_waiting(
    copilot: Cortex, project: Path
) -> None:
    class InTheWay(Asked):
        async def __call__(self, context: object, params: object) -> types.ElicitResult:
            (project / ".engramdown" / "memory" / "lessons.md").mkdir()
            return await super().__call__(context, params)

    answer = memorized(copilot, InTheWay("accept"), "auto")
    assert "what they decided could not be carried out" in answer
    assert "lessons.md: is a folder" in answer
    (project / ".engramdown" / "memory" / "lessons.md").rmdir()
    assert len(copilot.pending()) == 1


def test_a_client_that_says_nothing_of_forms_cannot_ask() -> None:
    form, url = types.FormElicitationCapability(), types.UrlElicitationCapability()
    assert not can_be_asked(None)
    assert not can_be_asked(types.ClientCapabilities())
    known = types.ElicitationCapability
    assert can_be_asked(types.ClientCapabilities(elicitation=known()))
    assert can_be_asked(types.ClientCapabilities(elicitation=known(form=form)))
    assert can_be_asked(types.ClientCapabilities(elicitation=known(form=form, url=url)))
    assert not can_be_asked(types.ClientCapabilities(elicitation=known(url=url)))
