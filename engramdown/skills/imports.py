"""Skills to import: found in a folder, read whole, and checked.

Nothing is written, and nothing is read through a link, a pipe or a device, nor beyond the limits.
A skill that cannot be imported says why, and keeps no other out. No secret is repeated.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from engramdown.errors import InvalidSkillError, StoreError
from engramdown.markdown.front_matter import FrontMatter, parse_front_matter
from engramdown.secrets.redaction import secret_in
from engramdown.skills.files import FILE, is_passed_over
from engramdown.skills.validation import Finding, check, check_label, label_of
from engramdown.storage.disk import Disk, named_errors

# How much all files of a skill may hold, in bytes.
LARGEST: Final = 20 * 1024 * 1024
# How many files a skill may have.
MOST_FILES: Final = 500
# How many may be brought in at once.
MOST_SKILLS: Final = 1_000
# Where assistants keep skills, in a home folder or a project.
PLACES: Final = tuple(Path(__file__).with_name("places.txt").read_text(encoding="utf-8").split())

_DEEPEST: Final = 8
_NOBODYS: Final = frozenset({".git", ".DS_Store"})


class Content(NamedTuple):
    """A file to import.

    Attributes:
        data: What it holds.
        runs: Whether it can be run as a program.
    """

    data: bytes
    runs: bool = False


class Incoming(NamedTuple):
    """A skill to import.

    Attributes:
        label: What it is to be called.
        source: Where it was found.
        files: Its files by name, SKILL.md among them.
        problem: Why it cannot be brought in, or ``""``.
        findings: What is wrong with its SKILL.md, also what keeps nobody out.
        hidden: How many hidden files and folders of it are left behind.
    """

    label: str
    source: str
    files: Mapping[str, Content] = {}
    problem: str = ""
    findings: tuple[Finding, ...] = ()
    hidden: int = 0

    @property
    def page(self) -> FrontMatter:
        """Its SKILL.md."""
        return page_of(self.files)


def found_at(path: Path) -> list[Incoming]:
    """Return the skills in a folder, or in one with a folder for each, by label.

    Raises:
        StoreError: If there is no folder, or it cannot be read.
    """
    with named_errors(path, "read"):
        place = Path(os.path.realpath(path))  # resolve() raises over a link to itself
        if place.name == FILE and place.is_file():
            place = place.parent
        if not place.is_dir():
            raise StoreError(f"{path}: is not a folder; give a folder of skills, unpacked.")
        found = _in_folder(place)
    known: dict[str, Incoming] = {}
    for each in sorted(found, key=lambda each: (each.label, each.source)):
        before = known.get(each.label)
        if before is None:
            known[each.label] = each
        else:
            problem = f"{before.source} has the same label; bring them in one by one"
            known[f"{each.label}\n{each.source}"] = each._replace(problem=problem)
    return [*known.values()]


def _checked(home: Path) -> Incoming:
    """Return the skill in a folder, with the reason why it cannot be imported, if there is one."""
    source = str(home)
    try:
        # The folder of a skill may be a link: people keep them elsewhere and link them.
        files, hidden = files_at(home.resolve())
    except StoreError as error:
        return Incoming(_label(home.name, ""), source, problem=str(error))
    page = page_of(files)
    label = _label(home.name, page.text("name"))
    findings = tuple(check(page, label))
    errors = [f"{FILE}:{each.line}: {each.message}" for each in findings if each.level == "error"]
    kinds = ((file, secret_in(content.data)) for file, content in files.items())
    problem = ""
    if FILE not in files:
        problem = f"there is no {FILE}"
    elif errors:
        problem = "; ".join(errors)
    elif secret := next((each for each in kinds if each[1]), None):
        problem = f"{secret[0]} holds a {secret[1]}; take it out of {label} first"
    return Incoming(label, source, files, problem, findings, hidden)


def _label(folder: str, name: str) -> str:
    """Return the label of a skill: its own name, or else that of its folder."""
    label = label_of(name) or label_of(folder) or "skill"
    for each in (folder, name):
        with contextlib.suppress(InvalidSkillError):
            label = check_label(each)
    return label


def page_of(files: Mapping[str, Content]) -> FrontMatter:
    """Return the SKILL.md among some files."""
    return parse_front_matter(files.get(FILE, Content(b"")).data.decode("utf-8", "surrogateescape"))


def _is_hidden(name: str) -> bool:
    """Whether a file or a folder is hidden and not just left by a program."""
    return name[:1] == "." and name not in _NOBODYS


def _in_folder(place: Path) -> list[Incoming]:
    homes = [place]
    if not (place / FILE).exists():
        homes = _homes(place)
    if not homes:
        inside = [place / each for each in (".engramdown/skills", "skills", *PLACES)]
        homes = [home for folder in inside if folder.is_dir() for home in _homes(folder)]
    if len(homes) > MOST_SKILLS:
        raise StoreError(f"{place}: holds more than {MOST_SKILLS} skills; bring in fewer at once.")
    return list(map(_checked, homes))


def _homes(folder: Path) -> list[Path]:
    """Return the folders of skills in a folder."""
    names = (name for name in Disk().folders(folder) if not is_passed_over(name))
    return [folder / name for name in names if (folder / name / FILE).exists()]


def files_at(home: Path) -> tuple[dict[str, Content], int]:
    """Return the files in the folder of a skill, and how much of it is hidden.

    Raises:
        StoreError: If one is a link, a pipe or a device, or they are too large.
    """
    disk, left, hidden = Disk(limit=LARGEST), LARGEST, 0
    files: dict[str, Content] = {}
    waiting = [(home, _DEEPEST)]
    while waiting:
        folder, deep = waiting.pop()
        if folder != home and (folder.is_symlink() or deep < 0):
            what = "is a link" if folder.is_symlink() else "is nested too deep"
            raise StoreError(f"{folder}: {what}; put the folder itself into that of the skill.")
        with named_errors(folder, "read"):
            names, folders = disk.names(folder), disk.folders(folder)
        hidden += sum(map(_is_hidden, (*names, *folders)))
        for path in [folder / name for name in names if not is_passed_over(name)]:
            disk.identity(path)  # refuses anything but a file
            with named_errors(path, "read"):
                runs = bool(path.lstat().st_mode & stat.S_IXUSR)
                content = Content(disk.read(path) or b"", runs)
            left -= len(content.data)
            if left < 0 or len(files) == MOST_FILES:
                raise StoreError(
                    f"{home}: holds more than {MOST_FILES} files or {LARGEST // 1024**2} MB; "
                    f"bring in what the procedure needs."
                )
            files[path.relative_to(home).as_posix()] = content
        # The first folder is to be looked at next: of several problems the first is reported.
        inside = [folder / name for name in folders if not is_passed_over(name)]
        waiting += [(path, deep - 1) for path in reversed(inside)]
    return files, hidden
