"""A turn ends whatever happens in it, and what was said is in the transcript."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from engramdown import Cortex, Session
from engramdown.cortex.tools import Answer
from engramdown.errors import ModelError
from engramdown.integrations.chat.endpoint import Heard, Reply, ToolCall
from engramdown.integrations.chat.turns import INSTRUCTIONS, Chat, Interrupts, Listener, Turn
from tests.conversation.provider_rules import check_openai

Part = Reply | Exception | Callable[[], object]


class Script:
    """A model that answers by a script, and keeps what it was asked."""

    def __init__(self, *parts: Part) -> None:
        """Answer with ``parts``, the last one again and again."""
        self._parts = parts
        self.asked: list[list[dict[str, Any]]] = []
        self.tools: list[str] = []

    def ask(
        self, messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]], heard: Heard
    ) -> Reply:
        """Return the next answer."""
        part = self._parts[min(len(self.asked), len(self._parts) - 1)]
        self.asked.append(list(messages))
        self.tools = [each["function"]["name"] for each in tools]
        if isinstance(part, Reply):
            heard(part.text)
            return part
        heard("So far")
        if isinstance(part, Exception):
            raise part
        part()
        return Reply("So far", (), "stop")


class Shown(Listener):
    """Keeps what a person would see."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.seen: list[tuple[str, object]] = []

    def said(self, text: str) -> None:
        """Keep it."""
        self.seen.append(("said", text))

    def calls(self, name: str, given: object) -> None:
        """Keep it."""
        self.seen.append((name, given))

    def answered(self, name: str, answer: Answer) -> None:
        """Keep it."""
        self.seen.append((name, answer.is_error))


def says(text: str, finish: str = "stop") -> Reply:
    return Reply(text, (), finish, 100, 10)


def wants(*calls: tuple[str, str], text: str = "") -> Reply:
    made = (ToolCall(f"c{at}", name, given) for at, (name, given) in enumerate(calls))
    return Reply(text, tuple(made), "tool_calls", 100, 10)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Make a project."""
    (tmp_path / ".engramdown").mkdir()
    return tmp_path


@pytest.fixture
def cortex(project: Path) -> Cortex:
    """Open its memory."""
    return Cortex.open(project=project)


@pytest.fixture
def session(cortex: Cortex) -> Iterator[Session]:
    """Begin a conversation."""
    with cortex.session() as running:
        yield running


def talk(cortex: Cortex, session: Session, model: Script) -> Chat:
    return Chat(cortex, session, model, Shown())


def lines(cortex: Cortex, session: Session) -> list[tuple[str, str]]:
    assert cortex.episodes is not None
    found = cortex.episodes.session(session.id).episodes
    return [(each.role, each.text) for each in found if each.role != "event"]


# ---- what goes well ----


def test_an_answer_is_given_and_recorded(cortex: Cortex, session: Session) -> None:
    turn = talk(cortex, session, Script(says("On 8017."))).turn("Which port?")
    assert turn == Turn("On 8017.", (), 100, 10)
    assert lines(cortex, session) == [("user", "Which port?"), ("assistant", "On 8017.")]
    assert not session.in_turn


def test_memory_stands_in_the_prompt_and_stays_the_same(cortex: Cortex, session: Session) -> None:
    cortex.scopes.project_hc.encode_rule("Use uv, never pip", "always")
    model = Script(says("a"), says("b"))
    chat = talk(cortex, session, model)
    chat.turn("One?")
    chat.turn("Two?")
    first, second = model.asked
    assert first[0]["content"].startswith(INSTRUCTIONS)
    assert "Use uv, never pip" in first[0]["content"]
    assert second[: len(first)] == first
    assert [each["role"] for each in second] == ["system", "user", "assistant", "user"]


def test_tools_are_called_until_there_is_an_answer(cortex: Cortex, session: Session) -> None:
    look = wants(("grep", '{"pattern": "port"}'), ("recall", '{"query": "port"}'), text="Hm.")
    keep = wants(("memorize", '{"text": "The port is 8017", "kind": "lesson"}'))
    model = Script(look, keep, says("It is 8017."))
    chat = talk(cortex, session, model)
    turn = chat.turn("Which port?")
    assert turn.tools == ("grep", "recall", "memorize")
    assert (turn.text, turn.tokens_in, turn.tokens_out) == ("It is 8017.", 300, 30)
    assert [entry.text for entry in cortex.scopes.project_hc.entries()] == ["The port is 8017"]
    assert {"memorize", "recall", "forget", "grep", "expand"} <= set(model.tools)
    for messages in model.asked:
        assert check_openai(messages) == []
    roles = [role for role, _ in lines(cortex, session)]
    assert roles[:6] == [
        *("user", "assistant", "tool_call", "tool_result", "tool_call", "tool_result")
    ]


def test_each_step_tells_which_tools_were_offered(cortex: Cortex, session: Session) -> None:
    model = Script(wants(("recall", '{"query": "port"}'), text="I look."), says("8017"))
    talk(cortex, session, model).turn("Which port?")
    assert cortex.episodes is not None
    steps = cortex.episodes.iterations(session.id)
    assert [step.tools_offered for step in steps] == [tuple(model.tools)] * 2


def test_tokens_that_nobody_counts_are_estimated(cortex: Cortex, session: Session) -> None:
    chat = talk(cortex, session, Script(Reply("Yes.", (), "stop")))
    turn = chat.turn("Why?")
    assert not turn.is_counted
    assert turn.tokens_in > chat.overhead
    assert turn.tokens_out > 0


# ---- what does not ----


@pytest.mark.parametrize("given", ["{", "[1]", '{"kind": 7}', "", '{"a":' * 2000])
def test_bad_arguments_get_an_answer(given: str, cortex: Cortex, session: Session) -> None:
    model = Script(wants(("memorize", given)), says("Sorry."))
    turn = talk(cortex, session, model).turn("Remember!")
    assert turn.outcome == ""
    assert check_openai(model.asked[1]) == []
    assert "was not called rightly" in str(model.asked[1])


def test_an_unknown_tool_gets_an_answer(cortex: Cortex, session: Session) -> None:
    model = Script(wants(("rm -rf\n/", "{}")), says("Sorry."))
    assert talk(cortex, session, model).turn("Go").outcome == ""
    assert "there is no tool" in str(model.asked[1])
    assert check_openai(model.asked[1]) == []


def test_tools_are_not_called_for_ever(cortex: Cortex, session: Session) -> None:
    model = Script(wants(("recall", '{"query": "x"}')))
    turn = talk(cortex, session, model).turn("Go")
    assert (len(model.asked), len(turn.tools), turn.outcome) == (25, 25, "failed")
    assert "without an answer" in turn.failed
    assert not session.in_turn


@pytest.mark.parametrize("finish", ["", "length"])
def test_an_answer_that_is_cut_off_says_so(finish: str, cortex: Cortex, session: Session) -> None:
    turn = talk(cortex, session, Script(says("It is", finish))).turn("Which?")
    assert (turn.text, turn.outcome) == ("It is", "truncated")
    told = "It is\n\n(There is no answer, or no more of it: truncated)"
    assert lines(cortex, session)[-1] == ("assistant", told)


def test_a_failure_is_told_and_the_next_turn_goes_on(cortex: Cortex, session: Session) -> None:
    model = Script(ModelError("no connection", "unreachable"), says("Yes."))
    chat = talk(cortex, session, model)
    turn = chat.turn("Are you there?")
    assert (turn.failed, turn.outcome, turn.text) == ("no connection", "unreachable", "So far")
    assert chat.turn("And now?").text == "Yes."
    assert [each["role"] for each in model.asked[1]] == ["system", "user", "assistant", "user"]


def test_memory_that_cannot_be_read_is_told(project: Path) -> None:
    templates = project / ".engramdown" / "templates"
    templates.mkdir()
    (templates / "working.j2").write_text("{% if %}", encoding="utf-8")
    cortex = Cortex.open(project=project)
    cortex.scopes.project_hc.encode_rule("Use uv", "always")
    with cortex.session() as session:
        turn = talk(cortex, session, Script(says("Yes."))).turn("Why?")
        assert turn.outcome == "failed"
        assert "working.j2" in turn.failed
        assert not session.in_turn


def test_a_turn_that_cannot_begin_is_told(project: Path) -> None:
    templates = project / ".engramdown" / "templates"
    templates.mkdir()
    (templates / "context.j2").write_text("{% if %}", encoding="utf-8")
    cortex = Cortex.open(project=project)
    cortex.scopes.project_hc.encode_rule("Use uv", "always")
    with cortex.session() as session:
        chat = talk(cortex, session, Script(says("Yes.")))
        turn = chat.turn("Why?")
        assert turn.outcome == "failed"
        assert "context.j2" in turn.failed
        (templates / "context.j2").unlink()
        assert chat.turn("Why?").text == "Yes."


def test_what_fails_behind_an_answer_is_told(cortex: Cortex, session: Session) -> None:
    memory = cortex.scopes.stores[1].memory

    def break_it() -> None:
        memory.mkdir(exist_ok=True)
        (memory / "pending.md").mkdir()

    chat = talk(cortex, session, Script(break_it, says("Yes.")))
    assert chat.turn("Why?").text == "So far"
    (memory / "pending.md").rmdir()
    assert chat.turn("Why?") == Turn("Yes.", (), 100, 10)


# ---- Ctrl-C ----


def press() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_ctrl_c_ends_an_answer_and_not_the_conversation(cortex: Cortex, session: Session) -> None:
    chat = talk(cortex, session, Script(press, says("Yes.")))
    turn = chat.turn("Think!")
    assert (turn.text, turn.outcome) == ("So far", "stopped")
    assert lines(cortex, session)[-1][1] == "So far\n\n(The user stopped the answer here.)"
    assert chat.turn("And now?").text == "Yes."


class PressesInTool(Shown):
    """Presses Ctrl-C while a tool is called."""

    def calls(self, name: str, given: object) -> None:
        """Press it."""
        super().calls(name, given)
        press()


def test_ctrl_c_cuts_no_tool_short(cortex: Cortex, session: Session) -> None:
    keep = wants(("memorize", '{"text": "Use uv", "kind": "always"}'), text="I keep it.")
    shown = PressesInTool()
    turn = Chat(cortex, session, Script(keep, says("Done.")), shown).turn("Keep: use uv")
    assert (turn.outcome, turn.tools) == ("stopped", ("memorize",))
    assert [entry.text for entry in cortex.scopes.project_hc.entries()] == ["Use uv"]
    assert ("memorize", False) in shown.seen
    assert lines(cortex, session)[-1] == ("assistant", "(The user stopped the answer here.)")


def test_a_second_ctrl_c_is_felt_at_once() -> None:
    with Interrupts() as interrupts:
        press()
        with pytest.raises(KeyboardInterrupt):
            press()
        with pytest.raises(KeyboardInterrupt), interrupts.waiting():
            pass
    with pytest.raises(KeyboardInterrupt):
        press()


def test_ctrl_c_is_left_alone_in_other_threads(cortex: Cortex, session: Session) -> None:
    before = signal.getsignal(signal.SIGINT)
    seen: list[object] = []
    chat = talk(cortex, session, Script(lambda: seen.append(signal.getsignal(signal.SIGINT))))
    turns: list[Turn] = []
    worker = threading.Thread(target=lambda: turns.append(chat.turn("Hi")))
    worker.start()
    worker.join()
    assert seen == [before]
    assert turns[0].text == "So far"


# ---- what is not recorded ----


def test_a_conversation_that_is_not_recorded_goes_on_in_mind(project: Path) -> None:
    config = project / ".engramdown" / "config.toml"
    config.write_text("[episodes]\nenabled = false\n", encoding="utf-8")
    cortex = Cortex.open(project=project)
    cortex.scopes.project_hc.encode_rule("Use uv, never pip", "always")
    looks = wants(("recall", '{"query": "uv"}'), ("rm -rf /", "["), text="Hm.")
    model = Script(looks, says("Yes."), says("No."))
    with cortex.session() as session:
        chat = talk(cortex, session, model)
        chat.turn("Do you know uv?")
        chat.turn("And pip?")
    assert "Use uv, never pip" in model.asked[2][0]["content"]
    roles = [each["role"] for each in model.asked[2]]
    assert roles == ["system", "user", "assistant", "tool", "tool", "assistant", "user"]
    assert check_openai(model.asked[2]) == []


def test_calls_that_a_stopped_turn_left_are_answered_in_mind(project: Path) -> None:
    config = project / ".engramdown" / "config.toml"
    config.write_text("[episodes]\nenabled = false\n", encoding="utf-8")

    class Stopped(Shown):
        def answered(self, name: str, answer: Answer) -> None:
            super().answered(name, answer)
            raise KeyboardInterrupt

    cortex = Cortex.open(project=project)
    model = Script(wants(("recall", '{"query": "a"}'), ("review", "{}")), says("Yes."))
    with cortex.session() as session:
        chat = Chat(cortex, session, model, Stopped())
        assert chat.turn("Look it up").outcome == "stopped"
        assert chat.turn("And now?").text == "Yes."
    assert check_openai(model.asked[-1]) == []
    assert [each["role"] for each in model.asked[-1]] == [
        *("system", "user", "assistant", "tool", "tool", "assistant", "user")
    ]


def test_what_is_in_mind_is_kept_within_the_budget(project: Path) -> None:
    config = project / ".engramdown" / "config.toml"
    config.write_text("[episodes]\nenabled = false\n", encoding="utf-8")
    cortex = Cortex.open(project=project)
    model = Script(says("x" * 4_000))
    with cortex.session() as session:
        chat = Chat(cortex, session, model, Shown(), budget=5_000)
        for number in range(8):
            chat.turn(f"Question {number}?")
    last = model.asked[-1]
    assert last[1]["role"] == "user"
    assert last[-1]["content"] == "Question 7?"
    assert len(last) < 10
