"""What a conversation becomes, sent with the real clients of two providers.

Promises: the server on this machine refuses what the providers would.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from anthropic import Anthropic
from anthropic.types import MessageParam
from hypothesis import given, settings
from hypothesis import strategies as st
from openai import OpenAI
from openai.types.chat import ChatCompletionMessageParam
from pydantic import TypeAdapter

from engramdown import Cortex, WorkingContext
from engramdown.conversation.conversation import Conversation
from engramdown.episodes.memory import EpisodicMemory
from engramdown.episodes.recorder import Said
from tests.consolidation.provider import Provider, Reply, failing, serving
from tests.conversation.provider_rules import check_anthropic, check_openai
from tests.cortex.conversation.talks import Summariser

SESSION = "20260301-101500-4f2a"
_OPENAI: TypeAdapter[Any] = TypeAdapter(list[ChatCompletionMessageParam])
_ANTHROPIC: TypeAdapter[Any] = TypeAdapter(list[MessageParam])

_ROLES = ("user", "assistant", "system", "scratchpad", "tool_call", "tool_result")
_TEXTS = (
    "x",
    " \n",
    "ends ",
    "\ud83d",
    "\x00",
    '{"a": [1]}',
    "[1]",
    "word " * 300,
    "word " * 9_000,
)


@st.composite
def any_talk(draw: st.DrawFn) -> list[tuple[str, str, Said]]:
    """Draw lines in any order: ids used again, orphans, calls at once."""
    lines = []
    for _ in range(draw(st.integers(0, 40))):
        role = draw(st.sampled_from(_ROLES))
        more: Said = {}
        if role.startswith("tool"):
            more = {
                "name": draw(st.sampled_from(["sh", "fs.read"])),
                "call": draw(st.sampled_from(["", "a", "b", "no id!"])),
                "error": draw(st.booleans()),
            }
        lines.append((role, draw(st.sampled_from(_TEXTS)), more))
    return lines


@contextmanager
def place(model: object = None) -> Iterator[tuple[Cortex, EpisodicMemory]]:
    """Open a cortex in a new project."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "project" / ".engramdown"
        project.mkdir(parents=True)
        cortex = Cortex.open(project=project, home=Path(folder) / "home", model=model)
        episodes = cortex.episodes
        assert episodes is not None
        yield cortex, episodes
        episodes.close()


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(any_talk(), st.integers(0, 6), st.integers(0, 4_000), st.sampled_from([0, 3]))
def test_every_conversation_is_taken_however_often_it_was_compacted(
    lines: list[tuple[str, str, Said]], tail: int, budget: int, times: int
) -> None:
    with place(Summariser()) as (cortex, episodes):
        episodes.log(SESSION, "user", "Hello")
        for role, text, more in lines:
            episodes.log(SESSION, role, text, **more)
        conversation = cortex.conversations.get(SESSION)
        for _ in range(times):
            conversation.compact("full", tail=0)
            conversation.compact("handoff", tail=0)
            episodes.log(SESSION, "user", "Go on")
        made = cortex.conversations.build_context(SESSION, budget, tail)
        assert check_openai(made.openai()) == []
        assert check_anthropic(made.anthropic()) == []
        _OPENAI.validate_python(made.openai(), strict=True)
        _ANTHROPIC.validate_python(made.anthropic()["messages"], strict=True)
        shown = [line.source for line in made.messages]
        assert len(set(shown)) == len(shown)
        strays = {each.where for each in made.dropped if "answer" in each.reason}
        view = [item.source for item in conversation.view()]
        newest = max(seq for seq in view if isinstance(seq, int) and _is_user(conversation, seq))
        kept = view[view.index(newest) :]
        assert {seq for seq in kept if f"{SESSION}#{seq}" not in strays} <= set(shown)


def _is_user(conversation: Conversation, seq: int) -> bool:
    return conversation.track.message(seq).episode.role == "user"


def compacted() -> Iterator[WorkingContext]:
    """Yield what a model is shown of a conversation as it is summarised to depth 3."""
    with place(Summariser(lambda number, _: f"Summary {number} </content>.")) as (cortex, episodes):
        conversation = cortex.conversations.get(SESSION)
        for number in range(500):
            episodes.log(SESSION, "user", f"Question {number} " + "word " * 30)
            for call in ("a", "b"):
                episodes.log(SESSION, "tool_call", '{"n": 1}', name="fs.read", call=call)
            for call in ("b", "a"):
                episodes.log(SESSION, "tool_result", "1", name="fs.read", call=call, error=True)
            episodes.log(SESSION, "assistant", f"Answer {number} \n")
            if number % 50 == 49:
                conversation.compact("full", budget=500)
                yield cortex.conversations.build_context(SESSION, 20_000)
        assert max(gist.depth for gist in conversation.gists) >= 3


def _judged(asked: dict[str, Any]) -> Reply:
    """Answer as a provider does: what breaks a rule is refused."""
    is_anthropic = Provider.sent[-1][0].endswith("/messages")
    wrong = check_anthropic(asked) if is_anthropic else check_openai(asked["messages"])
    return failing(400, "; ".join(wrong)) if wrong else Reply(text=json.dumps({"ok": True}))


@pytest.mark.slow
def test_the_real_clients_send_what_their_providers_take() -> None:
    with serving(_judged) as url:
        openai = OpenAI(base_url=url, api_key="k", max_retries=0)
        anthropic = Anthropic(base_url=url.removesuffix("/v1"), api_key="k", max_retries=0)
        count = 0
        for made in compacted():
            messages: Any = made.openai()
            answer = openai.chat.completions.create(model="m", messages=messages)
            assert answer.choices[0].message.content == '{"ok": true}'
            request = made.anthropic()
            said = anthropic.messages.create(
                model="m",
                max_tokens=9,
                tools=[{"name": "look", "input_schema": {"type": "object"}}],
                **request,
            )
            assert said.content[0].type == "tool_use"
            count += 1
        assert count == 10
        openai.close()
        anthropic.close()


def test_the_server_refuses_what_a_provider_would() -> None:
    with serving(_judged) as url, OpenAI(base_url=url, api_key="k", max_retries=0) as openai:
        broken: Any = [{"role": "tool", "tool_call_id": "a", "content": "1"}]
        with pytest.raises(Exception, match="did not call"):
            openai.chat.completions.create(model="m", messages=broken)
