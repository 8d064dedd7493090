"""Random histories in real git: branches, merges, rebases, reverts, by hand and by the store.

Promises: after every merge no entry is gone that a side added or left alone; nothing is broken
that was not broken on a side; what git asks a person, a simulated person answers.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Generator, Sequence
from contextlib import closing, suppress
from datetime import date
from pathlib import Path
from typing import Final, Self

from engramdown import Engram, Hippocampus
from engramdown.doctor.checks import check
from engramdown.engram import Kind, fold
from engramdown.errors import EngramdownError
from engramdown.git.driver import drive, rule, with_rule
from engramdown.git.lines import Markers
from engramdown.hippocampus.entry import raw_entries, split_task
from engramdown.markdown.document import parse
from tests.crash.campaign import Trial
from tests.crash.pages import TEXTS, edited

FILES: Final = ("rules.md", "lessons.md", "archive.md", "pending.md", "topics/ci.md", "soul.md")
_TODAY: Final = date(2026, 3, 1)
_ERRORS: Final = frozenset({"conflict", "id-twice", "copies-differ", "bad-metadata"})
_SPLIT: Final = re.compile(r"^<{7} .*\n((?:.*\n)*?)={7}\n((?:.*\n)*?)>{7} .*\n", re.MULTILINE)
# A driver that costs a few milliseconds: what it is given is merged by the process of the test.
_CLIENT: Final = """\
import socket, sys
with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as link:
    link.sendall("\\0".join(sys.argv[2:]).encode("utf-8", "surrogateescape"))
    link.shutdown(socket.SHUT_WR)
    sys.exit(int(link.recv(1) or b"9"))
"""


def trials(folder: Path, dice: random.Random) -> Generator[Trial, None, None]:
    """Yield histories for ever, one in twenty with the program that people have as the driver."""
    with _Driver(folder) as driver:
        number = 0
        while True:
            number += 1
            real = number % 20 == 1
            place = folder / f"history {number}"
            story = Story(place, dice, real_driver() if real else driver.command)
            try:
                wrong = [*story.run(dice.randint(6, 16)), *driver.broken]
                driver.broken.clear()
                yield Trial(f"history {number}", "\n".join(wrong))
            finally:
                shutil.rmtree(place, ignore_errors=True)


def real_driver() -> str:
    """Return the driver that ``init --git`` registers, for this interpreter."""
    call = "import sys; from engramdown.cli.main import main; sys.exit(main())"
    return f"'{sys.executable}' -c '{call}' merge-driver %O %A %B %P %L %S %X %Y"


class _Driver:
    """Answers merges in a thread, so that a history does not start Python for each file."""

    def __init__(self, folder: Path) -> None:
        self._server = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self.broken: list[str] = []
        client = folder / "client.py"
        client.write_text(_CLIENT, encoding="utf-8")
        port = self._server.getsockname()[1]
        self.command = f"'{sys.executable}' -IS '{client}' {port} \"$PWD\" %O %A %B %P %L"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        self._thread.join()

    def _serve(self) -> None:
        while True:
            try:
                link, _ = self._server.accept()
            except OSError:
                return
            with closing(link):
                said = b"".join(iter(lambda: link.recv(4096), b"")).decode()  # noqa: B023 - at once
                folder, base, ours, theirs, path, size = said.split("\0")
                old, mine, other = (Path(folder, name) for name in (base, ours, theirs))
                done = drive(old, mine, other, path, Markers(size=int(size)))
                self.broken += [done.word] if "as text" in done.word else []
                link.sendall(b"1" if done.conflict else b"0")


class Story:
    """One history of a repository, and what was wrong in it.

    Attributes:
        wrong: What was wrong, a text each.
    """

    def __init__(self, place: Path, dice: random.Random, driver: str) -> None:
        """Begin a repository in ``place``."""
        self._dice = dice
        self._top = place
        self._memory = place / ".engramdown" / "memory"
        self.wrong: list[str] = []
        self._done: list[str] = []
        self._memory.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main", ".")
        self.git("config", "merge.engramdown.driver", driver)
        attributes = with_rule(b"", rule(".engramdown"))
        (place / ".gitattributes").write_bytes(attributes)
        (place / ".engramdown" / ".gitignore").write_text(
            "/*\n!/memory\n/memory/.lock\n", encoding="utf-8"
        )
        for _ in range(4):
            self._edit()
        self._commit()

    def run(self, steps: int) -> list[str]:
        """Go on for some steps, and return what was wrong."""
        moves = (
            (self._work, 6),
            (self._branch, 3),
            (self._switch, 3),
            (self._merge, 5),
            (self._pick, 2),
            (self._revert, 1),
            (self._rebase, 1),
            (self._stash, 1),
        )
        for _ in range(steps):
            (move,) = self._dice.choices([m for m, _ in moves], [weight for _, weight in moves])
            self._done.append(move.__name__.strip("_"))
            move()
            if self.wrong:
                break
        if not self.wrong:
            # What people did since is theirs to take out: only what git brings is looked at.
            self._take_in()
            self._merge()
            self._open()
        return [f"{' '.join(self._done)}\n{each}" for each in self.wrong]

    # ---- git ----

    def git(self, *arguments: str, ok: bool = True) -> str:
        """Run git, and return what it printed; ``ok`` is whether it must succeed."""
        done = subprocess.run(
            ["git", *arguments], cwd=self._top, env=_environment(), capture_output=True, check=False
        )
        out = (done.stdout + done.stderr).decode("utf-8", "surrogateescape")
        if ok and done.returncode:
            raise AssertionError(f"git {' '.join(arguments)}: {out}")
        self.code = done.returncode
        return out if done.returncode else done.stdout.decode("utf-8", "surrogateescape")

    def _texts(self, *commits: str) -> list[dict[str, str]]:
        """Return the files as commits have them, in one question to git."""
        names = [f"{commit}:.engramdown/memory/{name}" for commit in commits for name in FILES]
        done = subprocess.run(
            ["git", "cat-file", "--batch"],
            cwd=self._top,
            env=_environment(),
            input="".join(f"{name}\n" for name in names).encode(),
            capture_output=True,
            check=True,
        )
        texts, at = [], 0
        for _ in names:
            end = done.stdout.index(b"\n", at)
            head = done.stdout[at:end].split(b" ")
            size = int(head[2]) if head[1] == b"blob" else -1
            texts.append(done.stdout[end + 1 : end + 1 + max(size, 0)])
            at = end + size + 2
        said = iter(text.decode("utf-8", "surrogateescape") for text in texts)
        return [{name: next(said) for name in FILES} for _ in commits]

    def _now(self) -> dict[str, str]:
        paths = {name: self._memory / name for name in FILES}
        return {
            name: path.read_bytes().decode("utf-8", "surrogateescape") if path.exists() else ""
            for name, path in paths.items()
        }

    def _commit(self) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", "memory")

    def _branches(self) -> list[str]:
        return self.git("for-each-ref", "--format=%(refname:short)", "refs/heads").split()

    # ---- what people and assistants do ----

    def _work(self) -> None:
        for _ in range(self._dice.randint(1, 3)):
            self._edit()
        self._commit()

    def _edit(self) -> None:
        if self._dice.random() < 0.15:
            self._learn()
            return
        name = self._dice.choice(FILES)
        path = self._memory / name
        path.parent.mkdir(exist_ok=True)
        text = self._now()[name]
        path.write_bytes(edited(self._dice, name, text).encode("utf-8", "surrogateescape"))

    def _learn(self) -> None:
        """Let the store take in what there is, and learn something."""
        store = Hippocampus(self._memory.parent, "project")
        kinds: tuple[Kind, ...] = ("lesson", "always", "never")
        kind = self._dice.choice(kinds)
        topic = self._dice.choice(("", "ci")) if kind == "lesson" else ""
        entries = store.entries()
        if entries and self._dice.random() < 0.3:
            store.forget(self._dice.choice(entries).id)
        else:
            store.encode([Engram(self._dice.choice(TEXTS), kind, "project", topic=topic)])

    def _take_in(self) -> None:
        """Let the store see what was done by hand."""
        Hippocampus(self._memory.parent, "project").notice()
        self._commit()

    def _branch(self) -> None:
        self.git("switch", "--quiet", "-c", f"b{len(self._branches())}")
        self._work()

    def _switch(self) -> None:
        self.git("switch", "--quiet", self._dice.choice(self._branches()))
        self._work()

    # ---- merges ----

    def _merge(self) -> None:
        other = self._dice.choice(self._branches())
        bases = self.git("merge-base", "--all", "HEAD", other, ok=False).split()
        sides = self._texts(*bases, "HEAD", other)
        said = self.git("merge", "--no-edit", "--quiet", other, ok=False)
        self._look(sides[:-2], sides[-2], sides[-1], said)
        if self.code:
            self._resolve()
            self._commit()

    def _pick(self) -> None:
        self._replay("cherry-pick", "--allow-empty", "--keep-redundant-commits")

    def _revert(self) -> None:
        self._replay("revert", "--no-edit")

    def _replay(self, how: str, *options: str) -> None:
        listed = self.git("rev-list", "--no-merges", "--all", "--max-parents=1", "--min-parents=1")
        if not listed:
            return
        commit = self._dice.choice(listed.split())
        before, after = (commit, f"{commit}^") if how == "revert" else (f"{commit}^", commit)
        sides = self._texts(before, "HEAD", after)
        said = self.git(how, *options, commit, ok=False)
        if self.code and "nothing to commit" in said:
            self.git(how, "--abort", ok=False)
            return
        self._look(sides[:1], sides[1], sides[2], said)
        if self.code:
            self._resolve()
            self._commit()

    def _rebase(self) -> None:
        other = self._dice.choice(self._branches())
        self.git("rebase", "--quiet", other, ok=False)
        if self.code:
            self.git("rebase", "--abort", ok=False)

    def _stash(self) -> None:
        (base,) = self._texts("HEAD")
        self._edit()
        mine = self._now()
        self.git("add", "--all")
        if not self.git("status", "--porcelain"):
            return
        self.git("stash", "push", "--quiet")
        self._edit()
        self._commit()
        (ours,) = self._texts("HEAD")
        said = self.git("stash", "pop", "--quiet", ok=False)
        self._look([base], ours, mine, said)
        if self.code:
            self._resolve()
            self.git("stash", "drop", "--quiet", ok=False)
        self._commit()

    def _resolve(self) -> None:
        """Answer every conflict as a person does: this one, that one, or both."""
        for name, text in self._now().items():
            if "<<<<<<<" in text:
                path = self._memory / name
                chosen = _SPLIT.sub(lambda found: self._dice.choice((found[1], found[2])), text)
                path.write_bytes(chosen.encode("utf-8", "surrogateescape"))

    # ---- laws ----

    def _look(
        self,
        bases: Sequence[dict[str, str]],
        ours: dict[str, str],
        theirs: dict[str, str],
        said: str,
    ) -> None:
        now = self._now()
        lost_file = re.findall(r"CONFLICT \((?:modify/delete|file|add/add)[^\n]*", said)
        for name in FILES:
            if any(name in line for line in lost_file) or name == "soul.md":
                continue
            old = set[str]().union(*(_said(name, base[name]) for base in bases))
            self._conserve(name, old, (ours[name], theirs[name], now[name]))
            self._is_sound(name, (ours[name], theirs[name], now[name]))

    def _conserve(self, name: str, old: set[str], texts: tuple[str, str, str]) -> None:
        mine, other, now = (_said(name, text) for text in texts)
        for side, across in ((mine, other), (other, mine)):
            lost = side - now - (old - across)
            if lost:
                self.wrong.append(_told(f"{name}: lost {lost}", texts))

    def _is_sound(self, name: str, texts: tuple[str, str, str]) -> None:
        mine, other, now = (_faults(name, text) for text in texts)
        conflict = "conflict" in now
        if conflict != ("<<<<<<<" in texts[2]):
            self.wrong.append(_told(f"{name}: a conflict that doctor does not see", texts))
        if not conflict and (now - mine - other):
            self.wrong.append(_told(f"{name}: {now - mine - other}", texts))

    def _open(self) -> None:
        """The store opens, reads all, and finds nothing to retire in what git brought."""
        before = self._now()
        try:
            store = Hippocampus(self._memory.parent, "project")
            store.notice()
            store.entries()
        except EngramdownError as error:
            self.wrong.append(f"the store does not open: {error}")
        after = self._now()
        for name in FILES:
            if _said(name, before[name]) - _said(name, after[name]):
                self.wrong.append(
                    _told(f"{name}: gone on opening", (before[name], "", after[name]))
                )


def _environment() -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    who = {
        f"GIT_{role}_{what}": "Ada"
        for role in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    }
    quick = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.fsync",
        "GIT_CONFIG_VALUE_0": "none",
    }
    return kept | who | quick | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def _told(what: str, texts: tuple[str, str, str]) -> str:
    parts = zip(("ours", "theirs", "now"), texts, strict=True)
    return "\n".join([what, *(f"--- {name}\n{text}" for name, text in parts)])


def _said(name: str, text: str) -> set[str]:
    """Return what the items of a file say; a tick is no other saying."""
    found = (each.block for each in raw_entries(name, parse(text)) if each.block.shape == "item")
    return {
        fold(split_task(block.text)[1] if name == "pending.md" else block.text) for block in found
    }


def _faults(name: str, text: str) -> set[str]:
    """Return the codes of what doctor finds; two of a kind are two."""
    codes = [finding.code for finding in check({name: text}, _TODAY) if finding.code in _ERRORS]
    return {
        f"{code} {codes[:at].count(code)}" if codes[:at].count(code) else code
        for at, code in enumerate(codes)
    }
