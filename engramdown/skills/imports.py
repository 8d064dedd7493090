"""Skills that are to be brought in: found in a folder or a ``.zip``, read whole, and judged.

Nothing is written, and nothing is read through a link, a pipe or a device, nor beyond the limits.
An archive is read in memory: a name in it that leads elsewhere, or that some system has no file
for, a link, two files of one name to any system, or what is encrypted refuses all of it. One skill
that cannot be brought in keeps no other out, and says why. No secret is repeated.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from engramdown.errors import InvalidSkillError, StoreError
from engramdown.markdown.front_matter import FrontMatter, parse_front_matter
from engramdown.secrets.redaction import secret_in
from engramdown.skills.files import FILE
from engramdown.skills.validation import Finding, check, check_label, label_of
from engramdown.storage.disk import Disk, named_errors

if TYPE_CHECKING:
    import zipfile

# How much all files of a skill may hold, in bytes.
LARGEST: Final = 20 * 1024 * 1024
# How many files a skill may have.
MOST_FILES: Final = 500
# How many may be brought in at once.
MOST_SKILLS: Final = 1_000
# Where assistants keep skills, in a home folder or a project.
PLACES: Final = (
    ".claude/skills",
    ".agents/skills",
    ".codex/skills",
    ".cursor/skills",
    ".github/skills",
    ".gemini/skills",
    ".opencode/skills",
)

_DEEPEST: Final = 8
_PASSED_OVER: Final = frozenset({"__pycache__", "node_modules"})
_NOBODYS: Final = frozenset({".git", ".DS_Store"})


class Content(NamedTuple):
    """A file that is to be brought in.

    Attributes:
        data: What it holds.
        runs: Whether it can be run as a program.
    """

    data: bytes
    runs: bool = False


class Incoming(NamedTuple):
    """A skill that is to be brought in.

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
    """Return the skills in a folder, in one with a folder for each, or in a ``.zip``, by label.

    Raises:
        StoreError: If there is nothing there, or it cannot be read.
    """
    with named_errors(path, "read"):
        place = Path(os.path.realpath(path))  # resolve() raises over a link to itself
        if place.name == FILE and place.is_file():
            place = place.parent
        if not (place.is_dir() or place.is_file()):
            raise StoreError(
                f"{path}: is neither a folder nor a file; give a folder of skills or a .zip."
            )
        found = [*(_in_folder(place) if place.is_dir() else _in_archive(place))]
    known: dict[str, Incoming] = {}
    for each in sorted(found, key=lambda each: (each.label, each.source)):
        before = known.get(each.label)
        if before is None:
            known[each.label] = each
        else:
            problem = f"{before.source} has the same label; bring them in one by one"
            known[f"{each.label}\n{each.source}"] = each._replace(problem=problem)
    return [*known.values()]


def _judged(
    name: str, source: str, files: Mapping[str, Content], problem: str, hidden: int
) -> Incoming:
    """Return a skill that was read, with what keeps it out.

    Args:
        name: What its folder is called.
        source: Where it was found.
        files: Its files.
        problem: What keeps it out anyhow.
        hidden: How much of it is hidden, and not among the files.
    """
    page = page_of(files)
    # It is to be called what it says itself, or else what its folder is.
    said = page.text("name")
    label = label_of(said) or label_of(name) or "skill"
    for each in (name, said):
        with contextlib.suppress(InvalidSkillError):
            label = check_label(each)
    if problem:
        return Incoming(label, source, files, problem)
    findings = tuple(check(page, label))
    errors = [f"{FILE}:{each.line}: {each.message}" for each in findings if each.level == "error"]
    if FILE not in files:
        problem = f"there is no {FILE}"
    elif errors:
        problem = "; ".join(errors)
    else:
        kinds = ((file, secret_in(content.data)) for file, content in files.items())
        file, kind = next((each for each in kinds if each[1]), ("", ""))
        problem = f"{file} holds a {kind}; take it out of {label} first" if kind else ""
    return Incoming(label, source, files, problem, findings, hidden)


def files_at(home: Path) -> dict[str, Content]:
    """Return the files in the folder of a skill.

    Raises:
        StoreError: If one is a link, a pipe or a device, or they are too large.
    """
    return _contents(home)[0]


def page_of(files: Mapping[str, Content]) -> FrontMatter:
    """Return the SKILL.md among some files."""
    return parse_front_matter(files.get(FILE, Content(b"")).data.decode("utf-8", "surrogateescape"))


def _is_passed_over(name: str) -> bool:
    """Whether a file or a folder is no part of a skill: hidden, or what a program left."""
    return name[:1] == "." or name in _PASSED_OVER


def _is_hidden(name: str) -> bool:
    """Whether a file or a folder is hidden, and somebody may miss it."""
    return name[:1] == "." and name not in _NOBODYS


def _in_folder(place: Path) -> Iterator[Incoming]:
    homes = [place]
    if not (place / FILE).exists():
        homes = _homes(place)
    if not homes:
        inside = [place / each for each in (".engramdown/skills", "skills", *PLACES)]
        homes = [home for folder in inside if folder.is_dir() for home in _homes(folder)]
    if len(homes) > MOST_SKILLS:
        raise StoreError(_too_many(place))
    for home in homes:
        files: dict[str, Content] = {}
        problem, hidden = "", 0
        try:
            # The folder of a skill may be a link: people keep them elsewhere and link them.
            files, hidden = _contents(home.resolve())
        except StoreError as error:
            problem = str(error)
        yield _judged(home.name, str(home), files, problem, hidden)


def _homes(folder: Path) -> list[Path]:
    """Return the folders of skills in a folder."""
    names = (name for name in Disk().folders(folder) if not _is_passed_over(name))
    return [folder / name for name in names if (folder / name / FILE).exists()]


def _contents(home: Path) -> tuple[dict[str, Content], int]:
    """Return the files in the folder of a skill, and how much of it is hidden."""
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
        for path in [folder / name for name in names if not _is_passed_over(name)]:
            disk.identity(path)  # refuses what is no file
            with named_errors(path, "read"):
                runs = bool(path.lstat().st_mode & stat.S_IXUSR)
                content = Content(disk.read(path) or b"", runs)
            left -= len(content.data)
            if left < 0 or len(files) == MOST_FILES:
                raise StoreError(_too_much(home))
            files[path.relative_to(home).as_posix()] = content
        # The first folder is to be looked at next: of several problems the first one is told.
        inside = [folder / name for name in folders if not _is_passed_over(name)]
        waiting += [(path, deep - 1) for path in reversed(inside)]
    return files, hidden


def _too_much(source: object) -> str:
    return (
        f"{source}: holds more than {MOST_FILES} files or {LARGEST // 1024**2} MB; "
        f"bring in what the procedure needs."
    )


def _too_many(source: object) -> str:
    return f"{source}: holds more than {MOST_SKILLS} skills; bring in fewer at once."


# ---- archives ----

_LARGEST_ARCHIVE: Final = 100 * 1024 * 1024
_LARGEST_WHOLE: Final = 200 * 1024 * 1024
_MOST: Final = 10_000
_LONGEST_NAME: Final = 500
_ENCRYPTED: Final = 1
_NOTHING: Final = "nothing of it is brought in."
# The rarer ways fail with errors of their own, and not every Python has them.
_PACKED: Final = (0, 8)  # stored, and deflated
# What stands for a device on Windows, and what it cuts off the end of a name.
_NOT_THERE: Final = re.compile(
    r"(?:^|/)(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.[^/]*)?(?:/|$)|[. ](?:/|$)", re.IGNORECASE
)
_NO_NAME: Final = re.compile(r'[\x00-\x1f\x7f\\:*?"<>|]|(?:^|/)\.\.?(?:/|$)|^/|//')


def _in_archive(path: Path) -> Iterator[Incoming]:
    """Yield each skill of an archive.

    Raises:
        StoreError: If it is no archive, or one that must not be trusted.
    """
    # Imported here: hardly ever do skills come in an archive.
    import zipfile
    import zlib

    size, _ = Disk().identity(path)
    if size > _LARGEST_ARCHIVE:
        raise StoreError(f"{path}: is larger than {_LARGEST_ARCHIVE // 1024**2} MB.")
    try:
        with zipfile.ZipFile(path) as archive:
            yield from _skills(archive, path)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError) as error:
        raise StoreError(f"{path}: is no .zip that can be read: {error}") from error


def _skills(archive: zipfile.ZipFile, path: Path) -> Iterator[Incoming]:
    members = _members(archive, path)
    pages = (name for name in members if name == FILE or name.endswith(f"/{FILE}"))
    homes: list[str] = []
    for home in sorted(name.removesuffix(FILE) for name in pages):
        # One that stands in the folder of another is an example there, and belongs to it.
        if not homes or not home.startswith(homes[-1]):
            homes.append(home)
    if not homes:
        raise StoreError(f"{path}: holds no {FILE}.")
    if len(homes) > MOST_SKILLS:
        raise StoreError(_too_many(path))
    room = _LARGEST_WHOLE
    for home in homes:
        files: dict[str, Content] = {}
        problem = ""
        left = min(LARGEST, room)
        for name in (name for name in members if name.startswith(home)):
            content = _read(archive, members[name], left)
            if content is None or len(files) == MOST_FILES:
                files, problem = {}, _too_much(f"{path.name}/{home}")
                break
            left -= len(content.data)
            files[name.removeprefix(home)] = content
        room -= sum(len(content.data) for content in files.values())
        hidden = 0
        for info in archive.infolist():
            parts = info.filename.removeprefix(home).split("/")
            if not info.is_dir() and info.filename.startswith(home) and parts[0] != "__MACOSX":
                hidden += _is_hidden(next(filter(_is_passed_over, parts), ""))
        folder = home.rstrip("/").rpartition("/")[2] or path.stem
        yield _judged(folder, f"{path}/{home}".rstrip("/"), files, problem, hidden)


def _members(archive: zipfile.ZipFile, path: Path) -> dict[str, zipfile.ZipInfo]:
    """Return the files of an archive that count, by name.

    Raises:
        StoreError: If one of them must not be trusted.
    """
    infos = archive.infolist()
    if len(infos) > _MOST:
        raise StoreError(f"{path}: holds more than {_MOST} files.")
    members: dict[str, zipfile.ZipInfo] = {}
    known: set[str] = set()
    for info in infos:
        name = _folded(info.filename)
        wrong = _wrong(info) or ("stands there twice" if name in known else "")
        if wrong:
            raise StoreError(f"{path}: {info.filename[:80]!a} {wrong}; {_NOTHING}")
        known.add(name)
        parts = info.filename.split("/")
        if not (info.is_dir() or any(map(_is_passed_over, parts)) or parts[0] == "__MACOSX"):
            members[info.filename] = info
    for name in members:
        for folder in Path(name).parents:
            if _folded(folder.as_posix()) in known:
                both = f"{folder.as_posix()[:80]!a} is a file and a folder"
                raise StoreError(f"{path}: {both}; {_NOTHING}")
    return members


def _folded(name: str) -> str:
    """Return a name as systems compare it that tell neither case nor forms of a letter apart."""
    import unicodedata

    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def _wrong(info: zipfile.ZipInfo) -> str:
    kind = stat.S_IFMT(info.external_attr >> 16)
    # What stood behind a zero byte is cut off by then, but not from what the archive says.
    if info.orig_filename != info.filename or _NO_NAME.search(info.filename):
        return "is a name that leads elsewhere"
    if len(info.filename) > _LONGEST_NAME or not info.filename.isprintable():
        return "is no name for a file"
    if _NOT_THERE.search(info.filename):
        return "is no name for a file on Windows"
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "is a link or a device"
    if info.flag_bits & _ENCRYPTED:
        return "is encrypted"
    return "" if info.compress_type in _PACKED else "is not packed as a .zip usually is"


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo, most: int) -> Content | None:
    """Return what a file holds, or ``None`` if that is more than ``most`` bytes."""
    if info.file_size > most:
        return None
    with archive.open(info) as file:
        data = file.read(most + 1)
    runs = bool(info.external_attr >> 16 & stat.S_IXUSR)
    return Content(data, runs) if len(data) <= most else None
