"""A program that runs the command line as if it stood on Windows, as far as Python can pretend.

Promises: before anything of ours is loaded, there is no ``fcntl``, no exchange of names, no
``O_NOFOLLOW``, ``O_NONBLOCK`` or ``O_DIRECTORY``, no ``fchmod``, ``fchown``, ``geteuid`` or
``register_at_fork``, and, if so told, no ``link``; locks are those of ``msvcrt``; now and then a
call on a file that is there is refused as Windows refuses it while a scanner has the file open. How
often that was is written to standard error at the end.

    python -m tests.end_to_end.windows SEED LINKS <commands

A command is a line of standard input, a JSON list of arguments, where ``id of Friday`` is the id in
the line of rules.md that holds the word; ``{"edit": [file, old, new]}`` is a person who edits. Each
is followed on standard output by a line with its exit code. Python itself was started on another
system, so paths stay as they are there.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import random
import re
import stat
import sys
import types
from collections.abc import Callable
from importlib import import_module, reload
from pathlib import Path
from typing import Any, Final

import portalocker

__all__ = ["main"]

# What asks at its first import on which system it is.
SETTLED: Final = (
    *("asyncio", "ctypes", "logging.handlers", "multiprocessing", "shutil", "subprocess"),
    *("tempfile", "click", "jinja2"),
)

MISSING: Final = (
    *("O_NOFOLLOW", "O_NONBLOCK", "O_DIRECTORY", "O_CLOEXEC"),
    *("fchmod", "fchown", "geteuid", "getuid", "register_at_fork", "fork", "chown", "statvfs"),
)
REFUSED: Final = ("open", "replace", "rename", "unlink", "remove", "link", "truncate")
CHANCE: Final = 0.1
"""How often a call is refused."""
ID_OF: Final = "id of "


def main() -> None:
    """Pretend, and run the commands."""
    seed, links = sys.argv[1:]
    refusals: list[str] = []
    for name in SETTLED:
        import_module(name)
    flock = fcntl.flock
    sys.modules["msvcrt"] = _msvcrt(flock)
    modules: dict[str, Any] = sys.modules
    modules["fcntl"] = None  # Python's own way to say that it is not there
    _load_portalocker()
    sys.platform = "win32"
    for name in MISSING:
        if hasattr(os, name):
            delattr(os, name)
    vars(import_module("ctypes"))["CDLL"] = _no_library
    if links == "no-links":
        vars(os)["link"] = _no_links
    _refuse_now_and_then(random.Random(seed), refusals)
    for line in sys.stdin:
        code = _run(json.loads(line))
        sys.stdout.write(f"-> {code}\n")
        sys.stdout.flush()
    sys.stderr.write(f"refused {len(refusals)}\n")


def _run(command: list[str] | dict[str, list[str]]) -> object:
    from engramdown.cli.main import main as engramdown

    if isinstance(command, dict):
        name, old, new = command["edit"]
        text = Path(name).read_text(encoding="utf-8")
        Path(name).write_text(text.replace(old, new), encoding="utf-8")
        return 0
    sys.argv = ["engramdown", *map(_with_id, command)]
    try:
        return engramdown()
    except SystemExit as end:
        return end.code or 0


def _with_id(argument: str) -> str:
    if not argument.startswith(ID_OF):
        return argument
    rules = Path(".engramdown/memory/rules.md").read_text(encoding="utf-8")
    found = re.search(rf"{argument.removeprefix(ID_OF)}.*? id:(\w+)", rules)
    return found[1] if found else argument


def _msvcrt(flock: Callable[[int, int], None]) -> types.ModuleType:
    """Return the locks of Windows, made of those of this system."""
    module = types.ModuleType("msvcrt")
    modes = {"LK_UNLCK": 0, "LK_LOCK": 1, "LK_NBLCK": 2, "LK_RLCK": 3, "LK_NBRLCK": 4}
    vars(module).update(modes)

    def locking(descriptor: int, mode: int, _length: int) -> None:
        if mode == modes["LK_UNLCK"]:
            flock(descriptor, 8)
            return
        try:
            flock(descriptor, 2 | 4)
        except BlockingIOError:
            # At once or, in truth, after ten seconds.
            number = errno.EACCES if mode == modes["LK_NBLCK"] else errno.EDEADLK
            raise OSError(number, "somebody else holds the lock") from None

    vars(module)["locking"] = locking
    return module


def _load_portalocker() -> None:
    """Let portalocker see Windows, and everybody else this system's paths."""
    from engramdown.storage import locks

    os.name, before = "nt", os.name
    try:
        flags, low = (reload(each) for each in (portalocker.constants, portalocker.portalocker))
    finally:
        os.name = before
    vars(portalocker).update(LockFlags=flags.LockFlags, lock=low.lock, unlock=low.unlock)
    locks._system.cache_clear()
    locks.prepare()


def _no_library(*_: object, **__: object) -> object:
    raise OSError(errno.ENOENT, "there is no such library here")


def _no_links(path: object, *_: object) -> None:
    raise OSError(errno.EINVAL, "this file system has no hard links", str(path))


def _refuse_now_and_then(dice: random.Random, refusals: list[str]) -> None:
    for name in REFUSED:
        setattr(os, name, _refusing(getattr(os, name), dice, refusals))


def _refusing(
    call: Callable[..., object], dice: random.Random, refusals: list[str]
) -> Callable[..., object]:
    def refuse(path: object, *rest: object, **how: object) -> object:
        name = str(path)
        if ".engramdown" in name and _is_file(name) and dice.random() < CHANCE:
            refusals.append(name)
            error = PermissionError(errno.EACCES, "The process cannot access the file", name)
            vars(error)["winerror"] = dice.choice((5, 32, 33))
            raise error
        return call(path, *rest, **how)

    return refuse


def _is_file(name: str) -> bool:
    try:
        return stat.S_ISREG(Path(name).lstat().st_mode)
    except OSError:
        return False


if __name__ == "__main__":
    main()
