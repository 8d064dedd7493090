"""What git brought of skills: each as a whole, its references and scripts with it.

Promises: a skill is known by all of its files but hidden ones, so that whoever approved it approved
none of what is changed in them later, be there so many that a model is not told of all; one that
cannot be read is none of these, and reaches no model anyway.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from engramdown.disk import Disk
from engramdown.errors import StoreError
from engramdown.hippocampus.origins import page_key
from engramdown.hippocampus.pulled import Brought, Provenance

__all__ = ["SkillPage", "brought_skills", "skill_pages"]


class SkillPage(NamedTuple):
    """A skill as something that git may have brought.

    Attributes:
        item: Its SKILL.md, known by all of its files.
        paths: Those files.
    """

    item: Brought
    paths: tuple[Path, ...]


def brought_skills(place: Provenance, root: Path) -> Iterator[Brought]:
    """Yield the skills of a scope of which git knows a file: they may be somebody else's.

    Raises:
        StoreError: If the folder of skills cannot be read.
    """
    pages = skill_pages(root) if (root / "skills").is_dir() and place.is_versioned() else []
    known = place.knows([path for page in pages for path in page.paths]) if pages else set[Path]()
    yield from (page.item for page in pages if known.intersection(page.paths))


def skill_pages(root: Path) -> list[SkillPage]:
    """Return the skills of a scope, whoever wrote them.

    Raises:
        StoreError: If the folder of skills cannot be read.
    """
    if not (root / "skills").is_dir():
        return []
    # Imported here: where nobody keeps a skill, nothing is loaded for them.
    from engramdown.skills.beside import files_beside
    from engramdown.skills.store import SkillStore

    disk, found = Disk(durable=False), []
    for skill in SkillStore(root).skills():
        home = skill.path.parent
        try:
            names = [each.name for each in files_beside(disk, home, every=True)]
            told = [(name, _digest(disk, home / name)) for name in names]
        except (StoreError, OSError):
            continue
        text = skill.page.render()
        if skill.is_there:
            name = f"skills/{skill.label}/SKILL.md"
            key = page_key(name, text + "".join(f"\n{name} {digest}" for name, digest in told))
            paths = (skill.path, *(home / name for name in names))
            found.append(SkillPage(Brought(key, name, 0, text), paths))
    return found


def _digest(disk: Disk, path: Path) -> str:
    """Return a digest of a file; of one that is too large to be read, its size and time."""
    try:
        return hashlib.sha256(disk.read(path) or b"").hexdigest()
    except StoreError:
        return f"{disk.identity(path)[0]} {disk.changed_at(path)}"
