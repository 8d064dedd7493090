"""What ``engramdown chat`` costs beside the model: a turn, the start, and the prompt.

The yardstick of a turn is the bare client of the package ``openai``, which sends the same
conversation to the same server on this machine and reads the same answer as it comes, twenty words;
the server is a process of its own, and answers at once. A turn of ours looks memory up, assembles
the prompt, records what is said, and looks for what is to be learned. The project remembers two
hundred things.

The yardstick of the start, until a person can type, is a Python that does nothing but
``import openai``.
"""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

from benchmarks.measure import finish, ms, paired, table
from engramdown import Cortex, Engram
from engramdown.integrations.chat.endpoint import Endpoint, address_of
from engramdown.integrations.chat.turns import INSTRUCTIONS, Chat, Listener
from engramdown.tokens import estimate_tokens

__all__ = ["main"]

ROOT: Final = Path(__file__).resolve().parent.parent
RUNS: Final = 60
STARTS: Final = 15
ENTRIES: Final = 200
COMMAND: Final = "import sys; from engramdown.cli.entry import main; sys.exit(main())"
ANSWER: Final = " ".join(f"word{number}" for number in range(20))
RECALL: Final = {"name": "recall", "arguments": '{"query": "thing 17"}'}


def main() -> None:
    """Measure, and print the tables."""
    if "--serve" in sys.argv[1:]:
        _serve()
        return
    with tempfile.TemporaryDirectory() as folder, _server() as url:
        project = Path(folder) / "project"
        cortex = _made(project)
        rows: list[tuple[str, ...]] = [("what", "ms", "yardstick ms", "ratio", "ms more")]
        rows.append(_row("a turn", *paired(_bare(url, 1), _ours(cortex, url, "no tool"), RUNS)))
        tool = paired(_bare(url, 2), _ours(cortex, url, "tool"), RUNS)
        rows.append(_row("a turn with a tool call", *tool))
        openai = _python(["-c", "import openai"])
        rows.append(_row("until a person can type", *paired(openai, _typed(project, url), STARTS)))
        prompt = _prompt(cortex)
    note = f"Medians of {RUNS} pairs of turns, {STARTS} of starts."
    finish("chat", f"{table(rows)}\n\n{note}\n\n{table(prompt)}")


def _row(name: str, base: float, subject: float, ratio: float) -> tuple[str, ...]:
    return name, ms(subject), ms(base), f"{ratio:.2f}", ms(subject - base)


# ---- a server ----


class _Answers(BaseHTTPRequestHandler):
    """Answers at once: with a call of a tool, if the last message asks for one."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Answer."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        # What was looked up for a turn stands behind the question.
        told = [(each["role"], each["content"]) for each in asked["messages"]]
        said = ["result" if role == "tool" else content for role, content in told]
        wants = next((each for each in reversed(said) if each in ("tool", "result")), "") == "tool"
        deltas: list[dict[str, object]] = []
        deltas += [{"tool_calls": [{"index": 0, "id": "c1", "function": RECALL}]}] if wants else []
        deltas += [] if wants else [{"content": f"{word} "} for word in ANSWER.split()]
        events = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
        events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        body = b"".join(b"data: " + json.dumps(each).encode() + b"\n\n" for each in events)
        body += b"data: [DONE]\n\n"
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _serve() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Answers)
    server.daemon_threads = True
    print(server.server_address[1], flush=True)
    server.serve_forever()


@contextmanager
def _server() -> Iterator[str]:
    words = [sys.executable, "-m", "benchmarks.chat", "--serve"]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        stdout = process.stdout
        port = stdout.readline().strip() if stdout is not None else ""
        try:
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.kill()


# ---- turns ----


def _made(project: Path) -> Cortex:
    (project / ".engramdown").mkdir(parents=True)
    cortex = Cortex.open(project=project, home=project.parent / "home")
    rules = (Engram(f"Do thing {at} before {at + 1}", "always", "project") for at in range(40))
    cortex.encode(rules)
    told = (f"Thing {at} is kept in place {at * 7}" for at in range(ENTRIES - 40))
    cortex.encode(Engram(text, "lesson", "project") for text in told)
    return cortex


def _bare(url: str, questions: int) -> Callable[[], object]:
    """Return a turn of the client alone: one question, or two where a tool is called between."""
    import openai

    client: Any = openai.OpenAI(api_key="none", base_url=url, max_retries=0)
    said: list[dict[str, Any]] = []

    def turn() -> None:
        said.append({"role": "user", "content": "no tool"})
        for _ in range(questions):
            stream = client.chat.completions.create(model="small", messages=said, stream=True)
            texts = [chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices]
        said.append({"role": "assistant", "content": "".join(texts)})

    return turn


def _ours(cortex: Cortex, url: str, message: str) -> Callable[[], object]:
    session = cortex.session()
    chat = Chat(cortex, session, Endpoint(address_of("small", url, {})), Listener())

    def turn() -> None:
        done = chat.turn(message)
        if done.outcome or bool(done.tools) != (message == "tool"):
            raise RuntimeError(f"{done.outcome} {done.failed} {done.tools}")

    return turn


# ---- the start ----


def _python(arguments: list[str]) -> Callable[[], object]:
    def run() -> None:
        subprocess.run([sys.executable, *arguments], check=True, cwd=ROOT)

    return run


def _typed(project: Path, url: str) -> Callable[[], object]:
    """Return a chat in a terminal that is ended when it asks for the first message."""
    words = [sys.executable, "-c", COMMAND, "-C", str(project), "chat", "--model", "small"]
    home = str(project.parent / "home")
    env = {**os.environ, "ENGRAMDOWN_HOME": home, "PYTHONPATH": str(ROOT), "TERM": "xterm"}

    def run() -> None:
        main_side, side = pty.openpty()
        process = subprocess.Popen(
            [*words, "--base-url", url],
            stdin=side,
            stdout=side,
            stderr=side,
            env=env,
            start_new_session=True,
        )
        shown = b""
        while b"> " not in shown:
            shown += os.read(main_side, 65_536)
        process.kill()
        process.wait()
        os.close(side)
        os.close(main_side)

    return run


# ---- the prompt ----


def _prompt(cortex: Cortex) -> list[tuple[str, ...]]:
    """Return what the parts of a prompt cost that are ours, in tokens."""
    usual = [each["function"]["name"] for each in cortex.tool_definitions()]
    ours = cortex.tool_definitions("openai", [*usual, "grep", "expand"])
    with cortex.session() as session:
        session.begin_turn("Where is thing 17?")
        made = session.build_context(80_000)
        session.end_turn("In place 119.")
    shown = sum(section.tokens for section in made.sections)
    aside, said = estimate_tokens(made.aside), estimate_tokens("Where is thing 17?")
    parts = {
        "instructions": estimate_tokens(INSTRUCTIONS),
        f"definitions of {len(ours)} tools of memory": _cost(ours),
        "what is remembered (the budgets of its sections)": shown,
        "what fits the question, behind it": aside,
        "the words around them": made.tokens - shown - aside - said,
    }
    rows: list[tuple[str, ...]] = [("of the first prompt", "tokens")]
    rows += [(name, f"{cost:,}") for name, cost in parts.items()]
    return [*rows, ("together", f"{sum(parts.values()):,}")]


def _cost(definitions: list[dict[str, Any]]) -> int:
    return estimate_tokens(json.dumps(definitions, ensure_ascii=False))


if __name__ == "__main__":
    main()
