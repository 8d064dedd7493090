"""A program for tests that runs beside them, and whose output they read line by line."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import IO, Any, Final

from tests.conftest import PATIENCE


class Program:
    """A running ``engramdown``.

    Attributes:
        process: The process.
    """

    def __init__(self, env: dict[str, str], *words: str) -> None:
        """Start it."""
        self.process = subprocess.Popen(
            ["engramdown", *words], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def line(self) -> str:
        """Wait for the next line."""
        return _line_of(self.process.stdout)

    def note(self) -> str:
        """Wait for the next line on stderr."""
        return _line_of(self.process.stderr)

    def next(self) -> dict[str, Any]:
        """Wait for the next line, and return its JSON."""
        data: dict[str, Any] = json.loads(self.line())
        return data

    def close(self) -> None:
        """Stop reading its output."""
        assert self.process.stdout is not None
        self.process.stdout.close()

    def end(self, number: signal.Signals | None = None) -> tuple[int, str]:
        """Wait for the end, after a signal if one is given; return the code and stderr."""
        if number is not None:
            self.process.send_signal(number)
        _, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, err.decode()


def _line_of(stream: IO[bytes] | None) -> str:
    assert stream is not None
    return stream.readline().decode()


_HIDDEN: Final = """
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {modules!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Hidden())
from engramdown.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def run_without(
    modules: Sequence[str], env: dict[str, str], *arguments: str
) -> subprocess.CompletedProcess[str]:
    """Run the program as if some modules were not installed."""
    return subprocess.run(
        [sys.executable, "-c", _HIDDEN.format(modules=modules), *arguments],
        env=env,
        input="",
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
