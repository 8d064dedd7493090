"""A model that edits the memory of a project."""

from __future__ import annotations

from typing import Any

import pytest

from engramdown import Cortex
from engramdown.cortex.tools import Answer
from engramdown.engram import Scope
from engramdown.integrations.memory_folder import MemoryFolder

__all__ = ["Model"]


class Model:
    """A model with the memory tool."""

    def __init__(self, cortex: Cortex, scope: Scope = "project") -> None:
        """Edit the memory of ``cortex``."""
        self.folder = MemoryFolder(cortex, scope)

    def __call__(self, command: str, path: str, **more: Any) -> Answer:  # noqa: ANN401 - JSON
        """Return the answer to a command."""
        return self.folder.run({"command": command, "path": f"/memories/{path}", **more})

    def does(self, command: str, path: str, **more: Any) -> str:  # noqa: ANN401 - JSON
        """Return the answer to a command that is carried out."""
        answer = self(command, path, **more)
        assert not answer.is_error, answer.text
        return answer.text

    def fails(self, command: str, path: str, **more: Any) -> str:  # noqa: ANN401 - JSON
        """Return what a model is told of a command that is not carried out."""
        answer = self(command, path, **more)
        assert answer.is_error, answer.text
        return answer.text

    def sees(self, path: str) -> list[str]:
        """Return the lines of a file, without numbers."""
        return [row.partition("\t")[2] for row in self.does("view", path).split("\n")[1:]]

    def renames(self, old: str, new: str) -> Answer:
        """Return the answer to a rename."""
        given = {
            "command": "rename",
            "old_path": f"/memories/{old}",
            "new_path": f"/memories/{new}",
        }
        return self.folder.run(given)


@pytest.fixture
def model(cortex: Cortex) -> Model:
    """Return a model in autopilot."""
    return Model(cortex)
