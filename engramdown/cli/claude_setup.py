"""``engramdown init --claude``: what it is about to write into the settings of Claude Code.

Promises: what is written was shown before, as a diff, and a person said yes.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from engramdown.cli import claude_messages as said
from engramdown.cli import consent, output
from engramdown.cli.changing import file_diff
from engramdown.cli.layout import Line, line, whole
from engramdown.cli.options import given
from engramdown.errors import UnfitFileError
from engramdown.hooks.foreign import Change, write
from engramdown.hooks.setup import plan, program, to_paste

__all__ = ["ForClaude"]


class ForClaude(NamedTuple):
    """What ``init --claude`` writes.

    Attributes:
        change: What is to become of the settings.
        remove: Whether our hooks are to go.
    """

    change: Change
    remove: bool

    @classmethod
    def plan(cls, project: Path) -> ForClaude:
        """Look at the settings; writes nothing.

        Args:
            project: The folder of the project.

        Raises:
            UnfitFileError: If they cannot be edited; what to paste is shown.
            StoreError: If something else than a file stands there.
        """
        options = given()
        remove, everywhere = options["remove"], bool(options["everywhere"])
        try:
            change = plan(project, everywhere=everywhere, remove=remove)
        except UnfitFileError:
            if not (remove or options["as_json"]):
                output.screen().show(_to_paste())
                output.flush()
            raise
        return cls(change, remove)

    def ask(self) -> None:
        """Show what would be written, and let a person say yes.

        Raises:
            RefusalError: If nobody is there to say it, and no option did.
            Exit: If the person says no.
        """
        options = given()
        if not self.change.is_new:
            return
        if not options["as_json"]:
            output.screen().show(self._diff())
            output.flush()
        consent.check(said.NEEDS_YES)
        if not options["dry_run"]:
            consent.ask(said.ASK_REMOVE if self.remove else said.ASK)

    def write(self) -> None:
        """Write it.

        Raises:
            UnfitFileError: If somebody changed the settings meanwhile.
            OSError: If they cannot be written.
        """
        write(self.change)

    def data(self) -> dict[str, Any]:
        """Return it for programs."""
        change = self.change
        return {
            "settings": str(change.path),
            "changed": change.is_new,
            "removed": self.remove,
            "before": None if change.before is None else change.before.decode(),
            "after": change.after.decode(),
        }

    def lines(self) -> Iterator[Line]:
        """Yield it for people."""
        change, dry = self.change, given()["dry_run"]
        if change.is_new or not self.remove:
            yield line()
        if not change.is_new:
            yield line((said.known(change.path, remove=self.remove), "good"), hang=2)
            return
        yield line((said.written(change.path, remove=self.remove, dry=dry), "good"), hang=2)
        if not self.remove:
            undo = said.undo(everywhere=bool(given()["everywhere"]))
            yield line((undo, "dim"), hang=2)
            if program() != "engramdown":
                yield line((said.ELSEWHERE, "warn"), hang=2)

    def _diff(self) -> Iterator[Line]:
        change = self.change
        before = (change.before or b"").decode()
        yield from file_diff(change.path, before, change.after.decode(), str(change.path))


def _to_paste() -> Iterator[Line]:
    yield line(said.PASTE, hang=2)
    for each in to_paste().split("\n"):
        yield whole((each, "dim"), indent=2)
