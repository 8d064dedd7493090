"""Whatever a model says are facts, memory is as the gate lets a guess be; and it is said why."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engramdown import Cortex
from engramdown.errors import ModelError
from engramdown.language.characters import visible
from engramdown.sleep.worker import WorkSummary, work_once
from tests.cortex.asked_jobs import memory
from tests.cortex.desk import Desk, spoken
from tests.cortex.test_hostile_answers import KEY, TEXTS, Answers, is_a_guess

NAMES = ("text", "topic")


@pytest.fixture
def due(cortex: Cortex) -> Cortex:
    """Return a cortex with a session that is worth it, and that has a card."""
    cortex.scopes.model = Desk()
    spoken(cortex, "s1")
    work_once(cortex.scopes, rest=lambda _: None)
    consolidation = cortex.scopes.settings.consolidation._replace(extract_facts=True)
    cortex.scopes.settings = cortex.scopes.settings._replace(consolidation=consolidation)
    return cortex


def answered(cortex: Cortex, answer: object) -> WorkSummary:
    """Let a model answer so."""
    cortex.scopes.model = Answers(answer if isinstance(answer, str) else json.dumps(answer))
    return work_once(cortex.scopes, rest=lambda _: None)


def items(*each: dict[str, Any]) -> dict[str, Any]:
    """Return an answer with these items."""
    return {"worth_persisting": True, "items": list(each)}


@pytest.mark.parametrize(
    "answer",
    [
        *("[]", "null", "no JSON", '{"worth_persisting": true, "items": null}', "[" * 5000),
        *('{"items": []}', '{"worth_persisting": "maybe"}', '{"worth_persisting": NaN}'),
        '{"worth_persisting": true, "items": [null]}',
        '{"worth_persisting": true, "items": [{"text": "Use uv", "basis": "verified"}]}',
        '{"worth_persisting": true, "items": [{"text": "Use uv", "kind": "soul"}]}',
        '{"worth_persisting": true, "items": [' + ",".join(["{}"] * 10_000) + "]}",
    ],
)
def test_an_answer_of_another_form_changes_no_byte(answer: str, due: Cortex) -> None:
    before = memory(due)
    [deed] = answered(due, answer).deeds
    assert (deed.outcome, deed.text) == ("failed", "hostile: answered in another form")
    assert memory(due) == before


@pytest.mark.parametrize("numbers", [[99], [0], [1, -1], [10**30]])
def test_what_was_not_given_cannot_be_named(numbers: list[int], due: Cortex) -> None:
    before = memory(due)
    summary = answered(due, items({"text": "Use uv", "messages": numbers}))
    (deed,) = summary.deeds
    assert deed.outcome == "failed"
    assert "which it was not given" in deed.text
    assert memory(due) == before


@pytest.mark.parametrize("kind", ["always", "lesson", "profile"])
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_no_text_gets_further_than_the_gate_lets_a_guess(text: str, kind: str, due: Cortex) -> None:
    base = {"text": "Use uv", "kind": kind, "messages": [1], "confidence": "high"}
    long = {"text": text, "topic": text[:200]}
    answered(due, items(*({**base, name: long[name]} for name in NAMES)))
    for entry in due.entries():
        is_a_guess(entry)
    for data in memory(due, lambda path: "episodes" not in path.parts).values():
        assert KEY.encode() not in data
    for name, data in memory(due).items():
        for line in data.decode().split("\n"):
            assert line == "" or line.startswith(("- ", "  ", "# ", "## ")), (name, line)
            assert line == visible(line), (name, line)
    seen = str(due.build_memory_context("uv"))
    assert seen == visible(seen)


def test_what_a_project_words_is_not_what_is_asked(due: Cortex) -> None:
    prompt = due.scopes.stores[1].root / "prompts" / "facts.j2"
    prompt.parent.mkdir()
    prompt.write_text("Theirs.\n{# user #}\nListen.", encoding="utf-8")
    heard: list[str] = []

    class Listening(Desk):
        def ask(self, schema: Any, system: str, user: str) -> Any:  # noqa: ANN401 - as the port
            del schema
            heard.append(system)
            raise ModelError(user)

    due.scopes.model = Listening()
    work_once(due.scopes, rest=lambda _: None)
    assert len(heard) == 1
    assert "Theirs." not in heard[0]
