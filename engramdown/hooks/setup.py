"""Sets up the hooks of Claude Code: which settings, and what is to stand in them.

Promises: planning writes nothing; settings that cannot be edited for sure are refused with the
line, and with what to paste.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Final

from engramdown.errors import UnfitFileError
from engramdown.hooks.claude_settings import groups, with_hooks, without_hooks
from engramdown.hooks.foreign import Change, read
from engramdown.hooks.json_text import JsonError

__all__ = ["plan", "program", "settings_path", "to_paste"]

_FOLDER: Final = ".claude"
_NAME: Final = "settings.json"
_OURS: Final = "engramdown"


def settings_path(project: Path, *, everywhere: bool) -> Path:
    """Return where the settings of Claude Code are.

    Args:
        project: The folder of the project.
        everywhere: Whether those for all projects are meant.
    """
    if not everywhere:
        return project / _FOLDER / _NAME
    moved = os.environ.get("CLAUDE_CONFIG_DIR", "")
    return (Path(moved).expanduser() if moved else Path.home() / _FOLDER) / _NAME


def program() -> str:
    """Return how a shell calls this program: by its name, where that finds it."""
    if shutil.which(_OURS) is not None:
        return _OURS
    # Imported here: usually its name is enough.
    import shlex

    from engramdown.git.registering import program as whole

    return shlex.join(whole())


def plan(project: Path, *, everywhere: bool, remove: bool = False) -> Change:
    """Return what is to become of the settings.

    Args:
        project: The folder of the project.
        everywhere: Whether those for all projects are meant.
        remove: Whether our hooks are to go.

    Raises:
        UnfitFileError: If they cannot be edited for sure.
        StoreError: If something else than a file stands there.
        OSError: If they cannot be read.
    """
    path = settings_path(project, everywhere=everywhere)
    # A person's own settings may be a link to wherever they keep them.
    found = read(path, None if everywhere else project)
    try:
        text = (found.before or b"").decode()
        after = without_hooks(text) if remove else with_hooks(text, groups(program()))
    except UnicodeDecodeError as error:
        raise UnfitFileError(str(path), f"is no UTF-8, at byte {error.start + 1}") from error
    except JsonError as error:
        raise UnfitFileError(str(path), str(error)) from error
    return found._replace(after=after.encode())


def to_paste() -> str:
    """Return what a person can paste into settings that cannot be edited."""
    every = {event: [group] for event, group in groups(program()).items()}
    return json.dumps({"hooks": every}, indent=2)
