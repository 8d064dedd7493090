"""What is said of the files that tell who the assistant and the user are.

Promises: pure; a file is always named by its whole path; an error names the next step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engramdown.cli import messages

if TYPE_CHECKING:
    from pathlib import Path

    from engramdown.cortex.identity import Aside, Page


NO_TEXT: Final = "a page is edited in your editor; say what it is to say there"
NO_TIME: Final = "--at shows a memory by its id; `git show REV:FILE` shows a page as it was"
UNCHANGED: Final = "Nothing changed."
_WHO: Final = {"soul": "the assistant is", "profile": "you are"}
_NEXT: Final = {"soul": "", "profile": ', or begin with `engramdown remember "My name is ..."`'}
_WHY: Final = {
    "spelling": "another file of that name is",
    "empty": "it is empty",
    "waits": "it came with git and waits for `engramdown review`",
    "unreadable": "it cannot be read, or is a link that leaves the project",
}
_SCOPE: Final = {"soul": "the project's comes first", "profile": "a project has no profile"}


def none(page: Page) -> str:
    """Say that there is no page, and where to begin one."""
    if page.path is None:
        return f"no file tells who {_WHO[page.name]}: this store has none"
    return f"no file tells who {_WHO[page.name]}; create {page.path}{_NEXT[page.name]}"


def where(page: Page) -> str:
    """Say for whom a page holds."""
    return f"who {_WHO[page.name]}, for {messages.SCOPE_NAMES[page.scope]}"


def aside(page: Page, file: Aside) -> str:
    """Say that a file is not used, and why."""
    why = _SCOPE[page.name] if file.why == "scope" else _WHY[file.why]
    return f"not used: {file.path} ({why})"


def also(path: Path) -> str:
    """Say that another file is used as well."""
    return f"also used: {path}"


def instead(page: Page) -> str:
    """Say what to do where no editor can run."""
    return f"change {page.path} yourself"


def opens(page: Page) -> str:
    """Say which file an editor would be given."""
    return f"Would open {page.path}"


def changed(page: Page) -> str:
    """Say that a page was changed."""
    return f"Changed {page.path}; running sessions go on as they began"
