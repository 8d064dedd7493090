"""Where scopes live, and what a configuration may say.

Promises: reading settings creates nothing; a wrong value is an error that names the file (or the
environment variable), the key and what is allowed; nothing is read at import.

What is set nearer wins: an argument, then ``ENGRAMDOWN_MODE``, then ``config.toml`` of the
project, then that of the global scope, then the default.
"""

from __future__ import annotations

import contextlib
import operator
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, get_args

from engramdown.checks import (
    Check,
    one_of,
    positive,
    switch,
    table,
    text,
    tokens,
)
from engramdown.consolidation_settings import (
    CONSOLIDATION_SETTINGS,
    PERSONAL,
    ConsolidationSettings,
    joined,
)
from engramdown.conversation_settings import CONVERSATION_SETTINGS, ConversationSettings
from engramdown.episode_settings import EPISODE_SETTINGS, Durability, EpisodeSettings
from engramdown.errors import SettingsError
from engramdown.worker_settings import WORKER_SETTINGS, WorkerSettings

__all__ = [
    "BUDGET_NAMES",
    "EPISODE_SETTINGS",
    "FOLDER",
    "MODES",
    "ConsolidationSettings",
    "ConversationSettings",
    "EpisodeSettings",
    "Mode",
    "Places",
    "Settings",
    "WorkerSettings",
    "episode_settings",
    "find_places",
    "find_project",
    "global_home",
    "load",
    "scope_folder",
]

Mode = Literal["autopilot", "copilot", "off"]

FOLDER: Final = ".engramdown"
MODES: Final[tuple[Mode, ...]] = get_args(Mode)
BUDGET_NAMES: Final = (
    "identity",
    "global_rules",
    "project_rules",
    "global_lessons",
    "project_lessons",
    "skills",
    "scratchpad",
)
_MEGABYTE: Final = 1024 * 1024
_LARGEST_CONFIG: Final = 1024 * 1024
_AT_HOME: Final = "may only stand in the config.toml of the global scope"
# Not engramdown.regular: a config.toml may be a link, as people who keep dotfiles have it.
_READ: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class Settings(NamedTuple):
    """What can be set.

    Attributes:
        mode: What is written without asking: everything (``autopilot``), what is certain
            (``copilot``), nothing (``off``).
        durability: ``full`` survives a power cut; ``fast`` only a crash of the program.
        lock_timeout: How long to wait for another writer, in seconds.
        max_file_mb: The largest memory file that is read, in megabytes.
        timezone: The IANA name of the zone in which a day of the journal begins; ``""`` for that
            of the system, which counts as well where the name is not known.
        budgets: Tokens for the sections of the memory context that get another number than the
            default.
        pulled: Whether what git brings is loaded and told of (``news``), or waits for a person to
            approve it (``review``); a project can only ask for the latter.
        episodes: What is set about transcripts.
        consolidation: What is set about offline work on memory.
        conversation: What is set about running conversations.
        worker: What is set about the background worker.
    """

    mode: Mode = "autopilot"
    durability: Durability = "full"
    lock_timeout: float = 10.0
    max_file_mb: float = 16.0
    timezone: str = ""
    budgets: Mapping[str, int] = {}
    pulled: Literal["news", "review"] = "news"
    episodes: EpisodeSettings = EpisodeSettings()
    consolidation: ConsolidationSettings = ConsolidationSettings()
    conversation: ConversationSettings = ConversationSettings()
    worker: WorkerSettings = WorkerSettings()

    @property
    def max_file_bytes(self) -> int:
        """The largest memory file that is read, in bytes."""
        return int(self.max_file_mb * _MEGABYTE)


class Places(NamedTuple):
    """Where the scopes are.

    Attributes:
        home: The folder of the global scope.
        project: The ``.engramdown`` folder of the project; it need not exist.
        closed: Why nothing can be written to the project, or ``""``.
    """

    home: Path
    project: Path
    closed: str = ""


def find_places(project: Path | str | None = None, home: Path | str | None = None) -> Places:
    """Return where the scopes are, for whoever stands in the working directory.

    Args:
        project: A project's folder, or its ``.engramdown``; by default the nearest one above the
            working directory, or one that begins right there.
        home: The folder of the global scope; by default :func:`global_home`.

    Raises:
        SettingsError: If a folder is a link that leaves the project, or is that of both scopes.
    """
    place = global_home() if home is None else _absolute(home)
    start = Path.cwd()
    if project is not None:
        folder = scope_folder(project)
        if _real(folder) == _real(place):
            reason = f"{folder} is the folder of the global scope; pass the folder of a project"
            raise SettingsError("argument", "project", reason)
        return Places(place, folder)
    found = find_project(start, place)
    if found is not None:
        return Places(place, found)
    folder = scope_folder(start)
    if _real(folder) not in _taken(place):
        return Places(place, folder)
    reason = f"{start}: is no project; change to the folder of one, or use the global scope"
    return Places(place, folder / FOLDER, reason)


def global_home() -> Path:
    """Return the folder of the global scope: ``ENGRAMDOWN_HOME``, or ``~/.engramdown``.

    Raises:
        SettingsError: If neither the variable nor a home directory is set.
    """
    moved = os.environ.get("ENGRAMDOWN_HOME", "")
    if moved:
        return _absolute(moved, "environment variable ENGRAMDOWN_HOME")
    try:
        return Path.home() / FOLDER
    except RuntimeError:
        reason = "no home directory is known; set it to the folder of the global scope"
        raise SettingsError("environment", "ENGRAMDOWN_HOME", reason) from None


def scope_folder(place: Path | str) -> Path:
    """Return the ``.engramdown`` folder of a project, given the project's folder or itself.

    Raises:
        SettingsError: If the folder is a link that leaves the project.
    """
    path = _absolute(place)
    return _checked_link(path if path.name == FOLDER else path / FOLDER)


def find_project(start: Path | str, home: Path | None = None) -> Path | None:
    """Return the nearest ``.engramdown`` folder from ``start`` upwards, as git finds ``.git``.

    The folder of the global scope is not a project, wherever it was moved to: neither ``home``,
    nor what ``ENGRAMDOWN_HOME`` says, nor ``~/.engramdown``.

    Raises:
        SettingsError: If the folder is a link that leaves the project.
    """
    path = _absolute(start)
    taken = _taken(home)
    for folder in (path, *path.parents):
        found = folder if folder.name == FOLDER else folder / FOLDER
        # Not Path.is_dir, which raises where a folder may not be looked into.
        if os.path.isdir(found) and _real(found) not in taken:  # noqa: PTH112 - as said above
            return _checked_link(found)
    return None


def load(home: Path, project: Path | None, mode: str | None = None) -> Settings:
    """Read the settings that hold for a project.

    Args:
        home: The folder of the global scope.
        project: The ``.engramdown`` folder of the project, or ``None``.
        mode: The mode that an argument asks for, or ``None``.

    Raises:
        SettingsError: If a value is unknown or wrong.
    """
    values: dict[str, Any] = {}
    for folder in (home, project):
        if folder is not None:
            values |= _read(folder / "config.toml", values, is_home=folder == home)
    variable = os.environ.get("ENGRAMDOWN_MODE", "")
    if variable:
        values["mode"] = _CHECKS["mode"]("environment variable ENGRAMDOWN_MODE", "mode", variable)
    if mode is not None:
        values["mode"] = _CHECKS["mode"]("argument", "mode", mode)
    values["episodes"] = episode_settings(values.get("episodes", {}))
    values["consolidation"] = ConsolidationSettings(**values.get("consolidation", {}))
    values["conversation"] = ConversationSettings(**values.get("conversation", {}))
    values["worker"] = WorkerSettings(**values.get("worker", {}))
    return Settings(**values)


def episode_settings(said: Mapping[str, Any] = MappingProxyType({})) -> EpisodeSettings:
    """Return what holds for transcripts: what is ``said``, but for what the environment says.

    Raises:
        SettingsError: If ``ENGRAMDOWN_EPISODES`` is neither on nor off.
    """
    variable = os.environ.get("ENGRAMDOWN_EPISODES", "")
    if not variable:
        return EpisodeSettings(**said)
    enabled = switch("environment variable ENGRAMDOWN_EPISODES", "episodes", variable)
    return EpisodeSettings(**{**said, "enabled": enabled})


def _absolute(place: Path | str, source: str = "argument") -> Path:
    try:
        return Path(place).expanduser().absolute()
    except RuntimeError:
        reason = "no home directory of that name is known; give the whole path"
        raise SettingsError(source, str(place), reason) from None


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _taken(home: Path | None) -> set[Path]:
    """Return the folders that are or were of the global scope."""
    folders = [global_home()] if home is None else [home, global_home()]
    with contextlib.suppress(RuntimeError):
        folders.append(Path.home() / FOLDER)
    return {_real(folder) for folder in folders}


def _checked_link(folder: Path) -> Path:
    if not _real(folder).is_relative_to(_real(folder.parent)):
        reason = "is a link that leaves the project; put the folder itself there"
        raise SettingsError(str(folder), FOLDER, reason)
    return folder


def _read(path: Path, before: Mapping[str, Any], *, is_home: bool) -> dict[str, Any]:
    text = _text(path)
    if not text:
        return {}
    # Imported here: most scopes have no such file.
    import tomllib

    try:
        table = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits, a list 1,000 deep
        raise SettingsError(str(path), "file", f"is not TOML: {error}") from error
    values: dict[str, Any] = {key: _checked(path, key, value) for key, value in table.items()}
    if not is_home:
        _check_stranger(path, values)
        if before.get("pulled") == "review":
            values["pulled"] = "review"
    for key in _TABLES:
        if key in values:
            earlier = before.get(key, {})
            lower = joined if key == "consolidation" and not is_home else operator.or_
            values[key] = lower(earlier, values[key])
    return values


def _check_stranger(path: Path, values: Mapping[str, Any]) -> None:
    """Refuse what a project must not say, which may have been cloned.

    That is where memory is sent, and that secrets in transcripts stay as they are.
    """
    if values.get("episodes", {}).get("redact") == "off":
        raise SettingsError(str(path), "episodes.redact", _AT_HOME)
    for key, personal in _PERSONAL.items():
        for name in sorted(personal.intersection(values.get(key, {}))):
            raise SettingsError(str(path), f"{key}.{name}", _AT_HOME)


def _text(path: Path) -> str:
    """Return the text of a configuration file, or ``""`` if there is none."""
    try:
        descriptor = os.open(path, _READ)
        try:
            _check_file(path, os.fstat(descriptor))
            # Some editors begin a file of UTF-8 with a mark.
            return os.read(descriptor, _LARGEST_CONFIG).decode("utf-8-sig")
        finally:
            os.close(descriptor)
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise SettingsError(str(path), "file", f"is not TOML: {error}") from error
    except OSError as error:
        raise SettingsError(str(path), "file", f"cannot be read: {error.strerror}") from error


def _check_file(path: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise SettingsError(str(path), "file", "is not a regular file; move it away")
    if found.st_size > _LARGEST_CONFIG:
        raise SettingsError(str(path), "file", f"is larger than {_LARGEST_CONFIG} bytes")


def _checked(path: Path, key: str, value: object) -> object:
    check = _CHECKS.get(key)
    if check is None:
        raise SettingsError(str(path), key, f"is no setting; allowed are {', '.join(_CHECKS)}")
    return check(str(path), key, value)


_CHECKS: Final[Mapping[str, Check]] = {
    "mode": one_of(*MODES),
    "durability": one_of(*get_args(Durability)),
    "lock_timeout": positive,
    "max_file_mb": positive,
    "timezone": text,
    "pulled": one_of("news", "review"),
    "budgets": table(dict.fromkeys(BUDGET_NAMES, tokens), "[budgets]", "section"),
    "episodes": table(EPISODE_SETTINGS, "[episodes]", "setting"),
    "consolidation": table(CONSOLIDATION_SETTINGS, "[consolidation]", "setting"),
    "conversation": table(CONVERSATION_SETTINGS, "[conversation]", "setting"),
    "worker": table(WORKER_SETTINGS, "[worker]", "setting"),
}
_TABLES: Final = ("budgets", "episodes", "consolidation", "conversation", "worker")
_PERSONAL: Final = {
    "episodes": frozenset({"embedder"}),
    "consolidation": PERSONAL,
    "worker": frozenset(WORKER_SETTINGS),
}
