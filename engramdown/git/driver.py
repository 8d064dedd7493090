"""The merge driver: what git calls for each memory file that two branches changed.

Takes no lock and opens no store; whatever goes wrong in it, the file is left as git's own
merge leaves it and the answer is a conflict: a person looks at it, and no side is lost.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from engramdown.errors import GitError, StoreError
from engramdown.git.lines import Markers
from engramdown.git.merge import merge_files
from engramdown.git.repository import Repository, find_repository
from engramdown.storage.disk import Disk
from engramdown.storage.git_program import ask, environment


class Driven(NamedTuple):
    """What the driver did.

    Attributes:
        conflict: Whether a person has to decide something.
        word: What a person should know of it, or ``""``.
    """

    conflict: bool
    word: str = ""


def drive(base: Path, ours: Path, theirs: Path, path: str, markers: Markers) -> Driven:
    """Merge three files that git wrote, and leave the result in ``ours``.

    Args:
        base: The common ancestor (``%O``).
        ours: Our side, and the place of the result (``%A``).
        theirs: The other side (``%B``).
        path: Where the file is in the repository (``%P``).
        markers: How conflicts are shown.
    """
    try:
        sides = base.read_bytes(), ours.read_bytes(), theirs.read_bytes()
        merged = merge_files(path, *sides, markers)
        ours.write_bytes(merged.data)
    except Exception as error:  # noqa: BLE001 - what breaks here must lose nobody's lines
        # As text; if even that fails, ours stays. What git answers says whether it is a conflict,
        # which it is anyway.
        names = (markers.ours, markers.base, markers.theirs)
        labels = [part for name in names for part in ("-L", name)]
        args = ("merge-file", f"--marker-size={markers.size}", *labels, "--")
        with contextlib.suppress(GitError):
            ask(Path.cwd(), environment(), (*args, *map(str, (ours, base, theirs))), None)
        return Driven(conflict=True, word=f"{path}: merged as text, look at all of it: {error!r}")
    word = f"{path}: merged line by line: {merged.by_lines}" if merged.by_lines else ""
    return Driven(merged.conflict, word)


# The line of ``.gitattributes`` that names the merge driver, and the setting that says what it is.
#
# Bytes that somebody else wrote stay as they are; a line that is there is not added
# again.

# The name of the merge driver.
DRIVER: Final = "engramdown"
# The hook that looks at staged memory.
HOOK: Final = "pre-commit"

_REMARK: Final = b"# Memory is merged entry by entry; in each clone, once: engramdown init --git"
_FILES: Final = "memory/**/*.md"
_NAMES: Final = re.compile(rb"^[^#\n]*\smerge=engramdown(?:\s|$)", re.MULTILINE)


def rule(folder: str) -> bytes:
    """Return the line for the memory in ``folder``, which is beside the file; ``""`` is around it.

    >>> rule(".engramdown")
    b'/.engramdown/memory/**/*.md merge=engramdown'
    """
    place = f"/{folder}/" if folder else "/"
    return f"{place}{_FILES} merge={DRIVER}".encode()


def with_rule(data: bytes, line: bytes) -> bytes:
    r"""Return ``.gitattributes`` with ``line`` at its end, if it is not there.

    >>> with_rule(b"*.png binary", b"x merge=engramdown").split(b"\n")[-2:]
    [b'x merge=engramdown', b'']
    """
    if line in (each.strip() for each in data.split(b"\n")):
        return data
    eol = b"\r\n" if b"\r\n" in data else b"\n"
    begun = data + eol if data and not data.endswith(b"\n") else data
    return begun + _REMARK + eol + line + eol


def names_driver(data: bytes) -> bool:
    r"""Whether ``.gitattributes`` gives some files to our merge driver.

    >>> names_driver(b"*.md  merge=engramdown\n"), names_driver(b"# merge=engramdown")
    (True, False)
    """
    return _NAMES.search(data) is not None


def merge_command(program: Sequence[str]) -> str:
    """Return the shell command of the driver; where the program is gone, git merges as text.

    Args:
        program: The path of the program, and what it needs before its arguments.
    """
    path, call = shlex.quote(program[0]), shlex.join(program)
    ours = f"{call} merge-driver".replace("%", "%%")
    gits = "git merge-file --marker-size=%L %A %O %B"
    there = f"test -x {path}".replace("%", "%%")
    return f"if {there}; then {ours} %O %A %B %P %L %S %X %Y; else {gits}; fi"


def hook_text(program: Sequence[str]) -> str:
    """Return the hook that stops a commit of memory that is not fit for it."""
    return (
        "#!/bin/sh\n"
        "# Engramdown: no secrets, conflict markers or broken metadata in staged memory.\n"
        f"exec {shlex.join(program)} doctor --staged\n"
    )


# What ``init --git`` sets up: the line of ``.gitattributes``, the driver in this clone, the hook.
#
# Planning writes nothing, and setting up writes what was planned; only this clone's own
# configuration is changed; a hook that is there is never touched; doing it again changes nothing.

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
        before: What it holds, or ``None``.
        after: What it is to hold.
        settings: The settings of the clone that are new or other, and their values.
        hook: The hook to write, or ``None``.
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
        StoreError: If ``.gitattributes`` is a link, which git does not follow either, or no file
            at all, or too large.
    """
    start = next(folder for folder in (root, *root.parents) if folder.is_dir())
    repository = find_repository(start)
    real = Path(os.path.realpath(root))
    beside = real != repository.top and _PLAIN.issuperset(real.name)
    attributes = (real.parent if beside else real) / _ATTRIBUTES
    before = Disk(limit=_LARGEST).read(attributes)
    after = with_rule(before or b"", rule(real.name if beside else ""))
    wanted = {f"merge.{DRIVER}.name": _TITLE, f"merge.{DRIVER}.driver": merge_command(program())}
    settings = {key: value for key, value in wanted.items() if _setting(repository, key) != value}
    place, obstacle = _hook(repository) if hook else (None, None)
    return Setup(repository, attributes, before, after, settings, place, obstacle)


def set_up(setup: Setup) -> None:
    """Write what was planned.

    Raises:
        GitError: If git refuses to be configured.
        OSError: If a file cannot be written.
    """
    if setup.before != setup.after:
        Disk().create(setup.attributes, setup.after, like=setup.attributes, mode=0o644)
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
        disk, folders = Disk(limit=_LARGEST), (root, *root.parents[:1])
        if not any(names_driver(disk.read(each / _ATTRIBUTES) or b"") for each in folders):
            return False
        return not _setting(find_repository(root), f"merge.{DRIVER}.driver")
    except (StoreError, GitError, OSError):
        # It does not matter here whether memory is under git at all.
        return False


def program() -> tuple[str, ...]:
    """Return how to call this program: by its full path, whatever is on the PATH of others."""
    for name in ("engramdown", "engramdown.exe"):
        beside = Path(sys.executable).with_name(name)
        if beside.is_file():
            return (beside.as_posix(),)
    path = shutil.which("engramdown")
    if path is not None:
        return (Path(path).absolute().as_posix(),)
    call = "import sys; from engramdown.cli.entry import main; sys.exit(main())"
    return (Path(sys.executable).as_posix(), "-c", call)


def _setting(repository: Repository, key: str) -> str:
    try:
        return repository.run("config", "--local", "--get", key).decode().removesuffix("\n")
    except GitError:
        # It fails where the setting is missing.
        return ""


def _hook(repository: Repository) -> tuple[Path | None, Path | None]:
    """Return where the hook may be written, or which one is in the way."""
    common = os.fsdecode(repository.run("rev-parse", "--git-common-dir").removesuffix(b"\n"))
    folder = Path(os.path.realpath(repository.top / common))
    paths = repository.run("config", "--type=path", "--null", "--get-all", "core.hooksPath")
    # The last one is what our own call says instead.
    configured = os.fsdecode(paths.split(b"\0")[-3]) if paths.count(b"\0") > 1 else ""
    place = (repository.top / configured if configured else folder / "hooks") / HOOK
    ours = place.parent.is_relative_to(folder) or place.parent.is_relative_to(repository.top)
    if os.path.lexists(place) or not ours:
        is_ours = place.is_file() and place.read_bytes() == hook_text(program()).encode()
        return None, None if is_ours else place
    return place, None
