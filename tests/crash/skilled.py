"""A small scope with skills, what can be done to them, and what must hold afterwards.

Promises: as :mod:`tests.crash.scopes` for memory: a SKILL.md is as it was before or as it is after,
byte for byte; what else stands in its folder is never touched; :meth:`Skilled.verify` raises an
:class:`AssertionError` that says what is wrong, and leaves the skills written to.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engramdown.markdown.front_matter import FrontMatter, parse_front_matter
from engramdown.skills.store import SkillStore
from engramdown.storage.disk import Disk

CHARTS: Final = "---\nname: charts\n# mine\ndescription: 'Make charts'\n---\nWith care.\n"
HAND: Final = CHARTS.replace("care", "my own hands")
MAPS: Final = "---\nname: maps\ndescription: Make maps\n---\n" + "One more line of it.\n" * 300
_RUN: Final = "plans/scripts/run.sh"
_BESIDE: Final = "charts/scripts/plot.py"
_SCRIPT: Final = b"plot()\r\n\xff"


@dataclass(frozen=True, slots=True)
class Skilling:
    """Something that is done to skills.

    Attributes:
        act: Does it.
        prepare: What happens to the scope before.
    """

    act: Callable[[SkillStore], object]
    prepare: Callable[[Path], object] = lambda _: None


class Skilled:
    """One operation on skills, and what they say before and after."""

    def __init__(self, folder: Path, name: str) -> None:
        """Make a scope below ``folder`` and carry out the operation on a copy."""
        self._skilling = SKILLED[name]
        self._master = folder / "before"
        _build(self._master)
        self._skilling.prepare(self._master)
        after = folder / "after"
        self.copy(after)
        self._skilling.act(opened(after))
        # What somebody left is put in order whether or not the rest is done.
        between = folder / "between"
        self.copy(between)
        opened(between).tidy()
        self._begun = texts(self._master)
        self._before, self._after = texts(between), texts(after)

    def copy(self, root: Path) -> None:
        """Make a fresh copy of the scope at ``root``."""
        shutil.copytree(self._master, root)

    def verify(self, root: Path, *, done: bool) -> None:
        """Check a copy on which the operation was cut short.

        Args:
            root: The copy.
            done: Whether the operation was acknowledged.
        """
        for label, text in texts(root).items():
            known = [each.get(label) for each in (self._begun, self._before, self._after)]
            assert text in known, f"{label} is torn"
        store = opened(root)
        store.tidy()
        allowed = [self._after] if done else [self._before, self._after]
        assert texts(root) in allowed, f"neither before nor after: {texts(root)}"
        # A folder that somebody made has no SKILL.md yet.
        found = {skill.label: skill.findings for skill in store.skills() if skill.is_there}
        assert found == dict.fromkeys(texts(root), ()), f"something is wrong: {found}"
        store.create("afterwards", _page("afterwards"))
        store.edit("charts" if "charts" in found else "afterwards", learn)
        assert "Learned." in store.read("charts" if "charts" in found else "afterwards").page.body
        _check_strays(root)
        before = _files(root)
        opened(root).tidy()
        assert _files(root) == before, "a second look changes something"


def opened(root: Path, disk: Disk | None = None) -> SkillStore:
    """Return a store that nobody used yet; it writes without ``fsync`` unless ``disk`` says so."""
    return SkillStore(root, disk=disk or Disk(durable=False), lock_timeout=5.0)


def texts(root: Path) -> dict[str, str]:
    """Return what each skill says, by label."""
    return {
        path.parent.name: path.read_bytes().decode("utf-8", "surrogateescape")
        for path in sorted((root / "skills").glob("*/SKILL.md"))
    }


def learn(page: FrontMatter) -> FrontMatter:
    """Add a line to what a skill says."""
    return page.with_body(f"{page.body}Learned.\n")


def _check_strays(root: Path) -> None:
    names = _files(root)
    known = {"skills.lock", *(f"skills/{label}/SKILL.md" for label in texts(root))}
    if f"skills/{_BESIDE}" in names:
        assert (root / "skills" / _BESIDE).read_bytes() == _SCRIPT
        known.add(f"skills/{_BESIDE}")
    if f"skills/{_RUN}" in names:
        assert names[f"skills/{_RUN}"] == _SCRIPT
        assert "plans" in texts(root), "a script came without its skill"
        known.add(f"skills/{_RUN}")
    # What was put aside is kept whole, and never swept up.
    aside = {name for name in names if name.startswith("skills-replaced/")}
    for name in aside:
        assert names[name] in (_SCRIPT, CHARTS.encode()), name
    known |= aside
    assert names.keys() <= known, f"stray files: {names.keys() - known}"


def _files(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes() if path.name != "skills.lock" else b""
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def _page(label: str) -> FrontMatter:
    return parse_front_matter(f"---\nname: {label}\ndescription: Do {label}\n---\nAs always.\n")


def _build(root: Path) -> None:
    store = opened(root)
    store.create("charts", parse_front_matter(CHARTS))
    store.create("maps", parse_front_matter(MAPS))
    script = root / "skills" / _BESIDE
    script.parent.mkdir()
    script.write_bytes(_SCRIPT)


def _empty(root: Path) -> None:
    shutil.rmtree(root)
    root.mkdir()


def _make_folder(root: Path) -> None:
    (root / "skills" / "plans" / "references").mkdir(parents=True)


def _leave(root: Path) -> None:
    """Leave what a program leaves that dies right behind an exchange that displaced a save."""
    path = root / "skills" / "charts" / "SKILL.md"
    ours = CHARTS + "Forgotten.\n"
    digests = [hashlib.sha256(text.encode()).hexdigest()[:16] for text in (ours, CHARTS)]
    path.write_bytes(ours.encode())
    path.with_name(f".SKILL.md.{digests[0]}.{digests[1]}.00000000.tmp").write_bytes(HAND.encode())
    half = path.parent.parent / "maps" / f".SKILL.md.{digests[0]}.{digests[1]}.00000001.tmp.part"
    half.write_bytes(b"---\nna")


def _describe(store: SkillStore) -> object:
    return store.edit("maps", lambda page: page.with_text("description", "Make maps: all"))


def _bring_in(store: SkillStore) -> None:
    page = _page("plans").render().encode()
    store.place("plans", {"SKILL.md": (page, False), "scripts/run.sh": (_SCRIPT, True)})


SKILLED: Final[dict[str, Skilling]] = {
    "new": Skilling(lambda store: store.create("plans", _page("plans"))),
    "new-first": Skilling(lambda store: store.create("plans", _page("plans")), _empty),
    "new-in-folder": Skilling(lambda store: store.create("plans", _page("plans")), _make_folder),
    "edit": Skilling(lambda store: store.edit("charts", learn)),
    "describe": Skilling(_describe),
    "tidy": Skilling(lambda store: store.tidy(), _leave),
    "edit-and-tidy": Skilling(lambda store: store.edit("charts", learn), _leave),
    "bring-in": Skilling(_bring_in),
    "bring-in-first": Skilling(_bring_in, _empty),
    "delete": Skilling(lambda store: store.delete("charts")),
}
"""What can be done to skills."""
