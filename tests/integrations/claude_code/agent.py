"""A coding agent as its hooks see it: processes of their own, and a transcript that grows."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final, NamedTuple

from engramdown import EpisodicMemory
from engramdown.transcripts.episode import Episode
from tests.cli.conftest import Runner

__all__ = ["PROGRAM", "Agent", "Answer", "hook_process", "told"]

PROGRAM: Final = "import sys; from engramdown.cli.entry import main; sys.exit(main())"


class Answer(NamedTuple):
    """What a hook did."""

    code: int
    out: str
    err: str


class Agent:
    """Claude Code in a project: what it writes to its transcript, and to its hooks.

    Attributes:
        transcript: The file that it keeps.
        session: Its id of the conversation.
        env: The environment of its hooks.
    """

    def __init__(
        self, project: Path, env: dict[str, str], session: str, run: Runner | None = None
    ) -> None:
        """Work in ``project``; the transcript is beside it.

        Args:
            project: The folder.
            env: The environment of the hooks.
            session: What the conversation is called.
            run: Runs the hooks in this process, which is faster; by default each is one of its own.
        """
        self.project = project
        self.session = session
        self.transcript = project.parent / "claude" / f"{session}.jsonl"
        self.env = env
        self._count = 0
        self._run = run
        self.transcript.parent.mkdir(exist_ok=True)

    def another(self, session: str) -> Agent:
        """Return another conversation in the same project."""
        return Agent(self.project, self.env, session, self._run)

    def user(self, text: str) -> None:
        """Write what the user said."""
        self._add("user", {"role": "user", "content": text})

    def sub_agent(self, text: str) -> None:
        """Write what a sub-agent is told, in the same file."""
        self._add("user", {"role": "user", "content": text}, isSidechain=True, agentId="w1")

    def assistant(self, text: str) -> None:
        """Write what the assistant said."""
        self._add("assistant", {"role": "assistant", "content": [{"type": "text", "text": text}]})

    def call(self, call: str, command: str) -> None:
        """Write that a command is run."""
        use = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}}
        self._add("assistant", {"role": "assistant", "content": [use]})

    def result(self, call: str, output: str, *, failed: bool = False) -> None:
        """Write what came of it."""
        block = {"type": "tool_result", "tool_use_id": call, "content": output, "is_error": failed}
        self._add("user", {"role": "user", "content": [block]})

    def payload(self, event: str, **fields: Any) -> bytes:  # noqa: ANN401 - JSON
        """Return what a hook is sent."""
        common = {
            "session_id": self.session,
            "transcript_path": str(self.transcript),
            "cwd": str(self.project),
            "permission_mode": "default",
            "hook_event_name": event,
        }
        return json.dumps(common | fields).encode()

    def start(self, event: str, **fields: Any) -> subprocess.Popen[bytes]:  # noqa: ANN401 - JSON
        """Let a hook run, and do not wait for it."""
        process = hook_process([], self.project, self.env, output=subprocess.DEVNULL)
        assert process.stdin is not None
        process.stdin.write(self.payload(event, **fields))
        process.stdin.close()
        return process

    def hook(self, event: str, **fields: Any) -> Answer:  # noqa: ANN401 - JSON
        """Let a hook run."""
        if self._run is not None:
            return Answer(*self._run("hook", stdin=self.payload(event, **fields)))
        return told(hook_process([], self.project, self.env), self.payload(event, **fields))

    def ok(self, event: str, **fields: Any) -> str:  # noqa: ANN401 - JSON
        """Let a hook run that has no trouble, and return what it printed."""
        answer = self.hook(event, **fields)
        assert (answer.code, answer.err) == (0, ""), answer
        return answer.out

    def lines(self) -> list[tuple[str, str]]:
        """Return what is recorded of all conversations, without events: role and text."""
        return [(each.role, each.text) for each in self.episodes() if each.role != "event"]

    def episodes(self) -> list[Episode]:
        """Return what is recorded of all conversations."""
        memory = EpisodicMemory(self.project / ".engramdown")
        found = [each for info in memory.sessions() for each in memory.session(info.id).episodes]
        memory.close()
        return found

    def _add(self, kind: str, message: dict[str, Any], **more: object) -> None:
        self._count += 1
        record = {
            "parentUuid": f"{self.session}-{self._count - 1}" if self._count > 1 else None,
            "isSidechain": False,
            "userType": "external",
            "cwd": str(self.project),
            "sessionId": self.session,
            "version": "2.1.0",
            "gitBranch": "main",
            "type": kind,
            "message": message,
            "uuid": f"{self.session}-{self._count}",
            "timestamp": f"2026-03-01T10:{self._count // 60:02}:{self._count % 60:02}.000Z",
            **more,
        }
        with self.transcript.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")


def hook_process(
    arguments: list[str], folder: Path, env: dict[str, str], *, output: int = subprocess.PIPE
) -> subprocess.Popen[bytes]:
    """Start ``engramdown hook`` as an agent would."""
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "hook", *arguments],
        cwd=folder,
        env=env,
        stdin=subprocess.PIPE,
        stdout=output,
        stderr=output,
    )


def told(process: subprocess.Popen[bytes], data: bytes | None = None) -> Answer:
    """Return what a hook did."""
    out, err = process.communicate(data, timeout=60)
    return Answer(process.returncode, out.decode(), err.decode())
