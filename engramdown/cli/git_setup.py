"""``engramdown init --git``: what it is about to set up for git, and what it did, in words.

Promises: to plan writes nothing; what was planned is what is written and shown.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from engramdown.cli import git_setup_messages as said
from engramdown.cli.layout import Line, line, whole
from engramdown.git.driver import Setup, plan_setup, program, set_up


class ForGit(NamedTuple):
    """What ``init --git`` sets up beside the folder of memory."""

    setup: Setup

    @classmethod
    def plan(cls, root: Path, *, hook: bool) -> ForGit:
        """Look at what there is to set up for the memory in ``root``; writes nothing.

        Raises:
            GitError: If it is in no repository.
            StoreError: If ``.gitattributes`` is no file.
        """
        return cls(plan_setup(root, hook=hook))

    def write(self) -> None:
        """Set it up."""
        set_up(self.setup)

    def data(self) -> dict[str, Any]:
        """Return it for programs."""
        setup = self.setup
        return {
            "repository": str(setup.repository.top),
            "attributes": str(setup.attributes),
            "attributes_changed": setup.before != setup.after,
            "settings": dict(setup.settings),
            "hook": str(setup.hook) if setup.hook else None,
            "hook_in_the_way": str(setup.hook_kept) if setup.hook_kept else None,
        }

    def lines(self) -> Iterator[Line]:
        """Yield it for people, with how to take it back."""
        setup = self.setup
        yield line()
        if setup.hook_kept is not None:
            yield from _kept(setup.hook_kept)
        if setup.is_done:
            yield line((said.KNOWN, "good"), hang=2)
            return
        yield line((said.SET_UP, "good"), hang=2)
        if setup.before != setup.after:
            yield whole((str(setup.attributes), "where"), indent=2)
            added = setup.after[len(setup.before or b"") :].decode("utf-8", "surrogateescape")
            for each in added.split("\n"):
                yield whole((each.rstrip("\r"), "dim"), indent=4)
        if setup.settings:
            yield whole((said.SETTINGS, "where"), indent=2)
            for key, value in setup.settings.items():
                yield whole((f"{key} = {value}", "dim"), indent=4)
        if setup.hook is not None:
            yield whole((str(setup.hook), "where"), indent=2)
        if setup.before != setup.after:
            yield line(said.EVERY_CLONE)
        yield line(said.UNDO)
        yield whole((said.UNDO_COMMAND, "id"), indent=2)


def _kept(hook: Path) -> Iterator[Line]:
    yield line((said.HOOK_STAYS, "warn"))
    yield whole((str(hook), "where"), indent=2)
    yield whole((f"{shlex.join(program())} doctor --staged", "id"), indent=2)
