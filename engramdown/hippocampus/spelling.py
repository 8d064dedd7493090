"""How files are spelled that other tools and people write otherwise: ``SOUL.md``, ``USER.md``.

Promises: pure; of all files that may be meant one is used, whatever the order in which they are
listed: the exact name, else the name in other letters, else an alias. To the rest of the store, to
the journal and to archives the file has one name, however it is spelled.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from engramdown.hippocampus.placement import PROFILE

__all__ = ["AGENTS", "SOUL", "beside", "has_aliases", "meant", "named", "spelled", "unused"]

SOUL: Final = "soul.md"
"""The page that says who the assistant is."""

AGENTS: Final = ".agents"
"""The folder beside a scope's own in which other tools keep ``SOUL.md`` and ``USER.md``."""

# What they are called there; a profile.md may be anything.
_BESIDE: Final = {PROFILE: "USER.md", SOUL: "SOUL.md"}
# The first one is the name; all of them are found without regard to case.
_ALIASES: Final = {PROFILE: (PROFILE, "user.md"), SOUL: (SOUL,)}
_MEANT: Final = {alias: name for name, aliases in _ALIASES.items() for alias in aliases}


def has_aliases(name: str) -> bool:
    """Whether the file called ``name`` may be spelled otherwise."""
    return name in _ALIASES


def meant(file: str) -> str:
    """Return the name of what is spelled ``file``, relative to the memory folder.

    >>> meant("USER.md"), meant("Soul.md"), meant("rules.md"), meant("topics/user.md")
    ('profile.md', 'soul.md', 'rules.md', 'topics/user.md')
    """
    return _MEANT.get(file.lower(), file)


def spelled(name: str, found: Iterable[str]) -> str:
    """Return which of the files ``found`` is the one called ``name``; ``name`` itself if none is.

    >>> spelled("profile.md", ["User.md", "USER.md"]), spelled("soul.md", ["SOUL.md", "soul.md"])
    ('USER.md', 'soul.md')
    """
    return min(_candidates(name, found), key=lambda file: _rank(name, file), default=name)


def unused(name: str, found: Iterable[str]) -> list[str]:
    """Return the files that may be meant by ``name`` and are not used: another one is.

    >>> unused("profile.md", ["USER.md", "profile.md", "rules.md"])
    ['USER.md']
    """
    candidates = _candidates(name, found)
    used = spelled(name, candidates)
    return sorted(file for file in candidates if file != used)


def named(found: Iterable[str]) -> dict[str, str]:
    """Return each file with the name of what it is; one that is not used keeps its spelling.

    >>> named(["USER.md", "SOUL.md", "soul.md"])
    {'USER.md': 'profile.md', 'SOUL.md': 'SOUL.md', 'soul.md': 'soul.md'}
    """
    files = list(found)
    used = {spelled(name, files) for name in _ALIASES}
    return {file: meant(file) if file in used else file for file in files}


def beside(name: str, found: Iterable[str]) -> str:
    """Return which of the files of ``.agents`` is meant by ``name``, or ``""``.

    >>> beside("profile.md", ["profile.md", "user.md", "USER.md"]), beside("soul.md", ["Soul.md"])
    ('USER.md', 'Soul.md')
    """
    wanted = _BESIDE[name]
    files = [file for file in found if file.lower() == wanted.lower()]
    return min(files, key=lambda file: (file != wanted, file), default="")


def _candidates(name: str, found: Iterable[str]) -> list[str]:
    return [file for file in found if has_aliases(name) and meant(file) == name]


def _rank(name: str, file: str) -> tuple[bool, int, str]:
    return file != name, _ALIASES[name].index(file.lower()), file
