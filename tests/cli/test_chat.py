"""``chat`` asks a model with memory; what keeps it from that is a line."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from types import SimpleNamespace

import pytest

from engramdown import Cortex
from engramdown.cli import output
from tests.cli.conftest import Runner
from tests.consolidation.wire import http, wired
from tests.integrations.chat.streams import calls, says

pytestmark = pytest.mark.usefixtures("memory")

IS_PERSON = output.is_person


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave no key of the person's in the environment."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def person(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let standard input be what a person types, a line at a time."""
    monkeypatch.setattr("engramdown.cli.output.is_person", lambda: True)
    typed = SimpleNamespace(select=lambda *_: ([], [], []))
    monkeypatch.setattr("engramdown.cli.chat_room.select", typed)


def texts(project: Path) -> list[str]:
    return [entry.text for entry in Cortex.open(project=project).scopes.project_hc.entries()]


# ---- a newcomer's first minute ----


def test_without_a_model_it_says_how_to_name_one(run: Runner) -> None:
    done = run("chat")
    assert done.code == 1
    assert "--model ollama/llama3.2" in done.err
    assert done.err.count("\n") == 1


def test_without_a_key_it_says_where_it_belongs(run: Runner) -> None:
    done = run("chat", "--model", "openai/small")
    assert done.code == 1
    assert "OPENAI_API_KEY is not set" in done.err


@pytest.mark.slow
def test_without_a_server_it_says_what_to_look_at(run: Runner) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    done = run(
        "chat", "--model", "small", "--base-url", f"http://127.0.0.1:{port}/v1", stdin=b"Hi\n"
    )
    assert f"no connection to the server; is 127.0.0.1:{port} running?" in done.err


def test_a_wrong_model_says_how_to_name_another(run: Runner) -> None:
    with wired(http({"error": {"message": "model 'smal' not found"}}, "404 No")) as server:
        done = run("chat", "--model", "ollama/smal", "--base-url", server.url, stdin=b"Hi\n")
    assert "model 'smal' not found; --model names another" in done.err
    assert "`ollama pull smal` fetches it" in done.err


@pytest.mark.parametrize(
    "status, said",
    [("401 No", "look at ENGRAMDOWN_MODEL_KEY"), ("429 No", "try again"), ("500 No", "try again")],
)
def test_what_a_server_says_is_one_line(status: str, said: str, run: Runner) -> None:
    with wired(http({"error": {"message": "so\nthere"}}, status)) as server:
        done = run("chat", "--model", "small", "--base-url", server.url, stdin=b"Hi\n")
    assert said in done.err
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["--model", "anthropic/x"], "no server is known for anthropic/…"),
        (["--model", "x", "--base-url", "here"], "must be an address that begins with http"),
        (["--model", "x", "--budget", "1"], "1000"),
    ],
)
def test_wrong_usage_says_what_is_right(arguments: list[str], said: str, run: Runner) -> None:
    done = run("chat", *arguments)
    assert done.code == 2
    assert said in done.err


# ---- a conversation ----


def test_it_needs_a_terminal(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engramdown.cli.output.is_person", IS_PERSON)
    done = run("chat", "--model", "ollama/small", stdin=b"Why?\n")
    assert (done.code, done.out) == (1, "")
    assert "a chat needs a terminal" in done.err


def test_the_model_of_the_settings_is_asked(run: Runner, isolated_home: Path) -> None:
    with wired(says("Yes.")) as server:
        home = isolated_home / ".engramdown"
        home.mkdir()
        said = f'[consolidation]\nmodel = "openai/small"\nbase_url = "{server.url}"\n'
        (home / "config.toml").write_text(said, encoding="utf-8")
        assert "Yes.\n" in run.ok("chat", stdin=b"Hi\n").out
    assert server.asked[0]["model"] == "small"


def test_memory_is_used_and_added_to(run: Runner, memory: Path, tmp_path: Path) -> None:
    run.remember("Always use uv")
    keep = calls("memorize", {"text": "The port is 8017", "kind": "lesson"}, before="I keep it.")
    with wired(keep, says("Kept.")) as server:
        options = ("--model", "small", "--base-url", server.url)
        done = run.ok("chat", *options, stdin=b"Port 8017, remember\n")
    assert "I keep it.\nKept.\n" in done.out
    assert "1 turn, 1 remembered" in done.out
    assert "Always use uv" in server.asked[0]["messages"][0]["content"]
    assert texts(tmp_path) == ["Always use uv", "The port is 8017"]
    assert "The port is 8017" in (memory / "lessons.md").read_text(encoding="utf-8")
    assert json.loads(run.ok("log", "list", "--json").out)[0]["ended"]


def test_a_conversation_goes_on(run: Runner) -> None:
    with wired(says("Hello Ada."), says("Ada.")) as server:
        options = ("--model", "small", "--base-url", server.url)
        run.ok("chat", *options, stdin=b"I am Ada\n")
        first = run.ok("log", "list", "--json").json[0]["id"]
        run.ok("chat", *options, "--session", first[:20], stdin=b"Who am I?\n")
    said = [each["content"] for each in server.asked[1]["messages"][1:4]]
    assert said == ["I am Ada", "Hello Ada.", "Who am I?"]


def test_there_is_no_going_on_with_what_is_not_there(run: Runner, memory: Path) -> None:
    done = run("chat", "--model", "ollama/small", "--session", "none")
    assert done.code == 1
    assert "no session" in done.err
    (memory.parent / "config.toml").write_text("[episodes]\nenabled = false\n", encoding="utf-8")
    done = run("chat", "--model", "ollama/small", "--session", "none")
    assert "conversations are not recorded here" in done.err


def test_mode_off_remembers_nothing(run: Runner, tmp_path: Path) -> None:
    keep = calls("memorize", {"text": "The port is 8017", "kind": "lesson"})
    with wired(keep, says("Not kept.")) as server:
        options = ("--model", "small", "--base-url", server.url)
        done = run.ok("--mode", "off", "chat", *options, stdin=b"Keep it\n")
    assert "Not kept.\n" in done.out
    assert texts(tmp_path) == []
