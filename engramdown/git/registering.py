"""What ``init --git`` sets up: the line of ``.gitattributes``, the driver in this clone, the hook.

Promises: planning writes nothing, and setting up writes what was planned; only this clone's own
configuration is changed; a hook that is there is never touched; doing it again changes nothing.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from engramdown.errors import GitError, StoreError
from engramdown.git.attributes import (
    DRIVER,
    HOOK,
    hook_text,
    merge_command,
    names_driver,
    rule,
    with_rule,
)
from engramdown.git.repository import Repository, find_repository
from engramdown.storage.safe_open import open_regular

__all__ = ["Setup", "is_unregistered", "plan_setup", "program", "set_up"]

_ATTRIBUTES: Final = ".gitattributes"
_TITLE: Final = "Engramdown: memory, entry by entry"
_LARGEST: Final = 1024 * 1024
_RUNNABLE: Final = 0o755
_PLAIN: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")


class Setup(NamedTuple):
    """What is to be set up.

    Attributes:
        repository: Whose clone it is.
        attributes: The ``.gitattributes``.
        before: What it holds; ``None`` if there is none.
        after: What it is to hold.
        settings: The settings of the clone that are new or other, and their values.
        hook: Where the hook is to stand, or ``None`` if none is to be written.
        hook_kept: A hook that is there and stays, or a place that is not ours to write to.
    """

    repository: Repository
    attributes: Path
    before: bytes | None
    after: bytes
    settings: Mapping[str, str]
    hook: Path | None = None
    hook_kept: Path | None = None

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to do."""
        return self.before == self.after and not self.settings and self.hook is None


def plan_setup(root: Path, *, hook: bool) -> Setup:
    """Return what there is to set up for the memory in ``root``.

    Args:
        root: The folder of a scope, which may not be there yet.
        hook: Whether the hook is wanted too.

    Raises:
        GitError: If it is in no repository.
        StoreError: If ``.gitattributes`` is no file.
    """
    start = next(folder for folder in (root, *root.parents) if folder.is_dir())
    repository = find_repository(start)
    real = Path(os.path.realpath(root))
    beside = real != repository.top and _PLAIN.issuperset(real.name)
    attributes = (real.parent if beside else real) / _ATTRIBUTES
    before = _read(attributes)
    after = with_rule(before or b"", rule(real.name if beside else ""))
    wanted = {
        f"merge.{DRIVER}.name": _TITLE,
        f"merge.{DRIVER}.driver": merge_command(program()),
    }
    settings = {key: value for key, value in wanted.items() if _setting(repository, key) != value}
    place, kept = _hook(repository) if hook else (None, None)
    return Setup(repository, attributes, before, after, settings, place, kept)


def set_up(setup: Setup) -> None:
    """Write what was planned.

    Raises:
        GitError: If git refuses to be configured.
        OSError: If a file cannot be written.
    """
    if setup.before != setup.after:
        # Beside it first, so that a full disk cuts no line of it short.
        new = setup.attributes.with_name(f"{_ATTRIBUTES}.{os.getpid()}.tmp")
        try:
            new.write_bytes(setup.after)
            if setup.before is not None:
                shutil.copymode(setup.attributes, new)
            new.replace(setup.attributes)
        finally:
            new.unlink(missing_ok=True)
    for key, value in setup.settings.items():
        setup.repository.run("config", "--local", "--replace-all", key, value)
    if setup.hook is not None:
        setup.hook.parent.mkdir(parents=True, exist_ok=True)
        with setup.hook.open("x", encoding="utf-8", newline="\n") as file:
            file.write(hook_text(program()))
        setup.hook.chmod(_RUNNABLE)


def is_unregistered(root: Path) -> bool:
    """Whether ``.gitattributes`` names the driver and this clone does not know it.

    Args:
        root: The folder of a scope.
    """
    try:
        named = any(
            names_driver(_read(folder / _ATTRIBUTES) or b"") for folder in (root, *root.parents[:1])
        )
        if not named:
            return False
        return not _setting(find_repository(root), f"merge.{DRIVER}.driver")
    except (StoreError, GitError, OSError):
        # Whether memory is under git at all is not what is asked.
        return False


def program() -> tuple[str, ...]:
    """Return how this program is called: where it stands, whatever is on the path of others."""
    for name in ("engramdown", "engramdown.exe"):
        beside = Path(sys.executable).with_name(name)
        if beside.is_file():
            return (beside.as_posix(),)
    found = shutil.which("engramdown")
    if found is not None:
        return (Path(found).absolute().as_posix(),)
    call = "import sys; from engramdown.cli.entry import main; sys.exit(main())"
    return (Path(sys.executable).as_posix(), "-c", call)


def _read(path: Path) -> bytes | None:
    """Return the content of a file, or ``None`` if there is none.

    Raises:
        StoreError: If it is a link, which git does not follow either, or no file at all.
        GitError: If it is too large.
    """
    try:
        descriptor = open_regular(path, os.O_RDONLY)
    except FileNotFoundError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise GitError(f"{path}: is larger than 1 MB, which is no list of attributes; shorten it")
    return data


def _setting(repository: Repository, key: str) -> str:
    try:
        return repository.run("config", "--local", "--get", key).decode().removesuffix("\n")
    except GitError:
        # It fails where there is no such setting.
        return ""


def _hook(repository: Repository) -> tuple[Path | None, Path | None]:
    """Return where the hook may be written, or which one is in the way."""
    common = os.fsdecode(repository.run("rev-parse", "--git-common-dir").removesuffix(b"\n"))
    folder = Path(os.path.realpath(repository.top / common))
    said = _hooks_path(repository)
    place = (repository.top / said if said else folder / "hooks") / HOOK
    ours = place.parent.is_relative_to(folder) or place.parent.is_relative_to(repository.top)
    if os.path.lexists(place) or not ours:
        is_ours = place.is_file() and place.read_bytes() == hook_text(program()).encode()
        return None, None if is_ours else place
    return place, None


def _hooks_path(repository: Repository) -> str:
    """Return ``core.hooksPath``; the last one is what our own call says instead."""
    said = repository.run("config", "--type=path", "--null", "--get-all", "core.hooksPath")
    return os.fsdecode(said.split(b"\0")[-3]) if said.count(b"\0") > 1 else ""
