"""What git brought of skills: each as a whole, its references and scripts with it.

Promises: a skill is known by all of its files, so that whoever approved it approved none of what is
changed in them later: hidden ones too and what links lead to, be there so many that a model is not
told of all; of what is hidden or what a program left, that counts which git knows. One that cannot
be looked at as a whole, as it has too many files, is never approved.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from engramdown.errors import StoreError
from engramdown.hippocampus.provenance import Brought, Provenance, page_key
from engramdown.storage.disk import Disk

if TYPE_CHECKING:
    from engramdown.skills.files import SkillFiles

_MOST: Final = 64 * 1024


class SkillPage(NamedTuple):
    """A skill as something that git may have brought.

    Attributes:
        item: Its SKILL.md, known by all of its files; by nothing if they cannot be looked at.
        paths: Those files.
        committed: What it is known by once git knows what is hidden of it, too.
    """

    item: Brought
    paths: tuple[Path, ...]
    committed: str


def brought_skills(
    place: Provenance, root: Path, *, whole: bool = True, labels: Collection[str] | None = None
) -> Iterator[Brought]:
    """Yield the skills of a scope of which git knows a file: they may be somebody else's.

    Args:
        place: Whose the scope is.
        root: Its folder.
        whole: Leave out what cannot be looked at as a whole, and is known by nothing.
        labels: Look only at those with these labels.
    """
    pages = _pages(place, root, lambda found: found if labels is None else found & set(labels))
    known = place.knows([path for page in pages for path in page.paths]) if pages else set[Path]()
    for page in pages:
        if known.intersection(page.paths) and (page.item.key or not whole):
            yield page.item


def own_skills(place: Provenance, root: Path) -> set[str]:
    """Return the keys of skills of which git knows nothing, also as they are once it does."""

    def is_maybe_own(labels: set[str]) -> set[str]:
        # Of most that git brought it knows this page, and the rest need not be read.
        pages = {root / "skills" / label / "SKILL.md": label for label in labels}
        return labels - {pages[path] for path in place.knows([*pages])}

    pages = _pages(place, root, is_maybe_own)
    known = place.knows([path for page in pages for path in page.paths]) if pages else set[Path]()
    mine = (page for page in pages if not known.intersection(page.paths))
    return {key for page in mine for key in (page.item.key, page.committed)} - {""}


def _pages(
    place: Provenance, root: Path, wanted: Callable[[set[str]], set[str]]
) -> list[SkillPage]:
    if not (root / "skills").is_dir() or not place.is_versioned():
        return []
    # Imported here: where nobody keeps a skill, nothing is loaded for them.
    from engramdown.skills.store import SkillStore

    files = SkillStore(root).files
    try:
        labels = files.labels()
    except StoreError:
        return []  # Then nobody is told of any.
    # What a page says of itself is not looked at: this is asked with every prompt.
    chosen = wanted(set(labels))
    found = (_page(place, files, label) for label in labels if label in chosen)
    return [page for page in found if page is not None]


def _page(place: Provenance, files: SkillFiles, label: str) -> SkillPage | None:
    from engramdown.skills.files import parts_of

    disk, home = Disk(durable=False), files.folder / label
    name, path = f"skills/{label}/SKILL.md", home / "SKILL.md"
    text = ""
    try:
        data = files.read(label)
        if data is None:
            return None
        text = data.decode("utf-8", "surrogateescape")
        parts = parts_of(disk, home, lambda folder: bool(place.knows([folder])))
        aside = [home / each.name for each in parts if each.is_aside]
        known = place.knows(aside) if aside else set[Path]()
        told = {each.name: f"\n{each.name} {_digest(disk, home / each.name)}" for each in parts}
    except (StoreError, OSError):
        return SkillPage(Brought("", name, 0, _shown(text)), (path,), "")
    counting = [each for each in parts if not each.is_aside or home / each.name in known]
    key = page_key(name, text + "".join(told[each.name] for each in counting))
    committed = page_key(name, text + "".join(told.values()))
    paths = (path, *(home / each.name for each in counting))
    return SkillPage(Brought(key, name, 0, _shown(text)), paths, committed)


def _shown(text: str) -> str:
    """Return as much of a page as a person is shown, who is asked about all of it."""
    if len(text) <= _MOST:
        return text
    end = text.rfind("\n", 0, _MOST) + 1 or _MOST
    return f"{text[:end].rstrip()}\n\n(cut here: {len(text) - end} characters more stand there)\n"


def _digest(disk: Disk, path: Path) -> str:
    """Return a digest of a file; of one that is too large to be read, its size and time.

    Of a link it is where it leads; of a pipe or a device, that it is one.
    """
    if path.is_symlink():
        return f"-> {os.readlink(path)}"  # noqa: PTH115 - as it stands there
    try:
        return hashlib.sha256(disk.read(path) or b"").hexdigest()
    except StoreError as error:
        try:
            return f"{disk.identity(path)[0]} {disk.changed_at(path)}"
        except StoreError:
            return str(error)
