"""The program ``git``, run so that it runs nothing else.

Nothing that a repository's own settings name is ever run (no hook, pager, external diff,
textconv, fsmonitor, signature program, no fetch); no lock is taken only to look; no shell; it ends
in time. What fails is one line with the next step.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from engramdown.errors import GitError

_SECONDS: Final = 60.0
# What a caller's environment may say; all else that begins with GIT_ is left out.
_KEPT: Final = (
    *("GIT_CEILING_DIRECTORIES", "GIT_CONFIG_", "GIT_DISCOVERY_ACROSS_FILESYSTEM"),
    "GIT_EXEC_PATH",
)
_OURS: Final = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LANGUAGE": "C",
    "LC_ALL": "C",
}
# What a repository may not say otherwise: what would be run, and what a history shows.
_SETTINGS: Final = (
    *("color.ui=false", "core.fsmonitor=false", f"core.hooksPath={os.devnull}"),
    *("i18n.logOutputEncoding=UTF-8", "log.follow=false", "log.showRoot=true"),
    *("log.showSignature=false", "merge.conflictStyle=merge", "protocol.allow=never"),
)
_OWNED: Final = re.compile(r"dubious ownership in repository at '(.*)'")


def environment() -> dict[str, str]:
    """Return the environment in which git is asked: ours, without what says where to look."""
    variables = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name.startswith(_KEPT)
    }
    return variables | _OURS


def ask(
    folder: Path, env: Mapping[str, str], args: Sequence[str], given: str | None = None
) -> tuple[int, bytes, bytes]:
    """Run git and return its code, what it printed, and what it complained of.

    Args:
        folder: Where it runs.
        env: See :func:`environment`.
        args: What is asked; nothing that a person typed may begin with a hyphen.
        given: What it reads.

    Raises:
        GitError: If it is missing, or takes too long.
    """
    # Imported here: most commands run no program.
    import subprocess

    settings = [part for setting in _SETTINGS for part in ("-c", setting)]
    try:
        done = subprocess.run(  # noqa: S603 - fixed arguments, no shell
            [_program(env), "--no-pager", "--literal-pathspecs", *settings, *args],
            cwd=folder,
            env=env,
            input=(given or "").encode("utf-8", "surrogateescape"),
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise GitError(
            f"{folder}: git {args[0]} took more than {_SECONDS:g} s and was stopped; try again"
        ) from error
    except OSError as error:
        raise GitError(f"{folder}: git could not be run: {error.strerror}") from error
    return done.returncode, done.stdout, done.stderr


def _program(env: Mapping[str, str]) -> str:
    """Return the path of git; never of a program in the current folder.

    Raises:
        GitError: If there is none.
    """
    # Imported here: it loads three compressors.
    import shutil

    folders = [each for each in env.get("PATH", "").split(os.pathsep) if Path(each).is_absolute()]
    path = shutil.which("git", path=os.pathsep.join(folders))
    if path is None or not Path(path).is_absolute():
        raise GitError("git is not installed, or not on PATH; install git, or add it to PATH")
    return path


def complaint(folder: Path, output: bytes) -> str:
    """Return what git complained of as one line with the next step."""
    text = output.decode("utf-8", "replace").strip()
    if "not a git repository" in text:
        return f"{folder}: is in no git repository; `git init` makes one"
    owned = _OWNED.search(text)
    if owned:
        return (
            f"{owned[1]}: belongs to somebody else, so git does not look into it; if you trust it: "
            f"git config --global --add safe.directory {shlex.quote(owned[1])}"
        )
    lines = [line for line in text.split("\n") if line.strip()]
    first = next((line for line in lines if line.startswith("fatal: ")), "\n".join(lines[:1]))
    return f"{folder}: git: {first.removeprefix('fatal: ')}" if first else ""
