"""Who the assistant is and whom it serves, and from which files that is.

Promises: the path is that of the file which is really used; where there is none, of the one to
create; every other file that could be meant is named, with why it is not used.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NamedTuple

from engramdown.engram import Scope
from engramdown.hippocampus.entry import Entry

__all__ = ["Aside", "Identity", "Page", "Why"]

Why = Literal["spelling", "scope", "empty", "waits", "unreadable"]


class Aside(NamedTuple):
    """A file that is not used.

    Attributes:
        path: The file.
        why: ``spelling``: another file of that name is; ``scope``: the one of the other scope is;
            ``empty``; ``waits``: git brought it, and nobody approved it yet; ``unreadable``: it
            cannot be read, or is a link that leaves the project.
    """

    path: Path
    why: Why


class Page(NamedTuple):
    """Which file tells who somebody is.

    Attributes:
        name: ``soul``: who the assistant is; ``profile``: who the user is.
        scope: The scope that it is in.
        path: The file that is used; where there is none, the one to create. ``None`` if the store
            has no files.
        is_there: Whether it is there.
        text: What it says, as it stands there.
        aside: The files that are not used.
        also: Files that are used besides: a ``.agents/USER.md`` tells of the user, too.
    """

    name: Literal["soul", "profile"]
    scope: Scope
    path: Path | None = None
    is_there: bool = False
    text: str = ""
    aside: tuple[Aside, ...] = ()
    also: tuple[Path, ...] = ()


class Identity(NamedTuple):
    """Who the assistant is and whom it serves.

    Attributes:
        soul: The page that tells who the assistant is, as far as a model may see it, or ``""``.
        profile: The facts about the user that a model may see, in file order.
        pages: The files that they are from: the soul, then the profile.
        step: The last step of the journal that they are from, or ``""``.
    """

    soul: str = ""
    profile: tuple[Entry, ...] = ()
    pages: tuple[Page, Page] = (Page("soul", "global"), Page("profile", "global"))
    step: str = ""

    @property
    def soul_path(self) -> Path | None:
        """The file that tells who the assistant is; ``None`` if there is none."""
        return _path(self.pages[0])

    @property
    def profile_path(self) -> Path | None:
        """The file that tells who the user is; ``None`` if there is none."""
        return _path(self.pages[1])


def _path(page: Page) -> Path | None:
    return page.path if page.is_there else None
