"""``engramdown init --claude`` and its like: what is about to be written into files of agents.

Promises: what is written was shown before, as one diff, and a person said yes, once; each refusal
has its next step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple

from engramdown.cli import output, process, user_input
from engramdown.cli.commands import given
from engramdown.cli.layout import Line, line, whole
from engramdown.cli.output import file_diff
from engramdown.errors import UnfitFileError
from engramdown.integrations.agents_md import Change, write
from engramdown.integrations.claude_code.install import AGENTS, plan, program, to_paste

NEEDS_AGENT: Final = "--remove belongs to --claude, --codex, --gemini or --cursor; give one of them"
_NEEDS_YES: Final = "nothing is written without a yes; give --yes, or --dry-run to look only"
_ASK: Final = "Write this?"
_ASK_REMOVE: Final = "Take this out?"
_PASTE: Final = "To set it up by hand, put this into these files:"
_ELSEWHERE: Final = (
    "`engramdown` is not on the PATH here, so the program is named by where it stands; in settings "
    "that others share, that is not where theirs is."
)
_NO_SERVER: Final = (
    "The tools (MCP) are left out, as their extra is not installed: `pip install "
    "'engramdown[mcp]'` (from a clone `'.[mcp]'`), and the same command again."
)


def chosen() -> list[str]:
    """Return the agents that were asked for."""
    return [name for name in AGENTS if given()[f"for_{name}"]]


class ForAgents(NamedTuple):
    """What is written into the files of coding agents.

    Attributes:
        names: The agents.
        changes: What is to become of their files.
        remove: Whether ours is to go.
        has_server: Whether the tools are there to be served.
    """

    names: Sequence[str]
    changes: Sequence[Change]
    remove: bool
    has_server: bool

    @classmethod
    def plan(cls, project: Path, names: Sequence[str]) -> ForAgents:
        """Look at the files; writes nothing.

        Args:
            project: The folder of the project.
            names: The agents.

        Raises:
            UnfitFileError: If they cannot be edited; what to paste is shown.
            StoreError: If something else than a file stands there.
        """
        options = given()
        remove, everywhere = options["remove"], bool(options["everywhere"])
        server = find_spec("mcp") is not None
        try:
            changes = plan(project, names, everywhere=everywhere, server=server, remove=remove)
        except UnfitFileError:
            if not (remove or options["as_json"]):
                output.screen().show(_to_paste(names, server=server))
                process.flush()
            raise
        return cls(names, changes, remove, server)

    @property
    def is_new(self) -> bool:
        """Whether anything is to be written."""
        return any(change.is_new for change in self.changes)

    def ask(self) -> None:
        """Show what would be written, and let a person say yes.

        Raises:
            RefusalError: If nobody is there to say it, and no option did.
            Exit: If the person says no.
        """
        options = given()
        if not self.is_new:
            return
        if not options["as_json"]:
            output.screen().show(self._diff())
            process.flush()
        user_input.check(_NEEDS_YES)
        if not options["dry_run"]:
            user_input.ask(_ASK_REMOVE if self.remove else _ASK)

    def write(self) -> None:
        """Write it.

        Raises:
            UnfitFileError: If somebody changed a file meanwhile.
            OSError: If one cannot be written.
        """
        for change in self.changes:
            write(change)

    def data(self) -> dict[str, Any]:
        """Return it for programs."""
        return {
            "names": [*self.names],
            "removed": self.remove,
            "tools": self.has_server,
            "files": [
                {
                    "path": str(change.path),
                    "changed": change.is_new,
                    "before": None if change.before is None else change.before.decode(),
                    "after": None if change.is_gone else change.after.decode(),
                }
                for change in self.changes
            ],
        }

    def lines(self) -> Iterator[Line]:
        """Yield it for people."""
        options = given()
        if self.is_new or not self.remove:
            yield line()
        for change in self.changes:
            yield line(
                (_became(change, remove=self.remove, dry=options["dry_run"]), "good"), hang=2
            )
        if self.remove:
            return
        if not self.has_server:
            yield line((_NO_SERVER, "warn"), hang=2)
        if not self.is_new:
            return
        for note in filter(None, (AGENTS[name].note for name in self.names)):
            yield line((note, "warn"), hang=2)
        words = " ".join(f"--{name}" for name in self.names)
        where = " --global" if options["everywhere"] else ""
        undo = f"To take it out again: engramdown init {words} --remove{where}"
        yield line((undo, "dim"), hang=2)
        if program() != ["engramdown"]:
            yield line((_ELSEWHERE, "warn"), hang=2)

    def _diff(self) -> Iterator[Line]:
        for change in self.changes:
            if change.is_new:
                before = None if change.before is None else change.before.decode()
                after = None if change.is_gone else change.after.decode()
                yield from file_diff(change.path, before, after, str(change.path))


def _became(change: Change, *, remove: bool, dry: bool) -> str:
    """Say what became of a file, or would."""
    if not change.is_new:
        return (
            f"{change.path} has nothing of ours." if remove else f"{change.path} is set up already."
        )
    if remove:
        return f"Ours {'would be' if dry else 'is'} gone from {change.path}."
    return f"Memory {'would be' if dry else 'is'} set up in {change.path}."


def _to_paste(names: Sequence[str], *, server: bool) -> Iterator[Line]:
    yield line(_PASTE, hang=2)
    for name in names:
        for each in to_paste(name, server=server).split("\n"):
            yield whole((each, "dim"), indent=2)
