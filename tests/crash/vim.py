"""A person in vim, the real one, while eight agents write: an experiment of the campaign.

Promises: vim runs in a terminal, carries out a session that dice wrote for it and tells of each
save what was changed, once it is done; nothing depends on when a key arrives. Skipped where there
is no vim.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Final

from engramdown.hippocampus.store import Hippocampus
from engramdown.storage.disk import Disk
from tests.cli.terminal import Terminal
from tests.crash.campaign import MissingError, Trial
from tests.crash.sleeper import replayed

_AGENTS: Final = 8
_EACH: Final = 38
_SAVES: Final = 6
_SHARED: Final = 10
"""Of so many texts one is learned by all."""

_PAUSES: Final = (0.0, 0.01, 0.03, 0.1)
_THEIRS: Final = frozenset({"4913", ".soul.md.swp", "soul.md~"})
"""What another vim left, or is about to remove."""

_SCRIPT: Final = r"""
set nomore encoding=utf-8 backupskip= backupdir=. undodir=. directory=.
let s:changes = []
autocmd BufWritePost * call s:Saved()
function! s:Saved()
  call writefile([json_encode(s:changes)], $SAVES, 'a')
  let s:changes = []
endfunction
function! s:Lines()
  " Nobody touches what all agents say: it would be said again.
  let lines = range(1, line('$'))
  return filter(lines, {_, at -> getline(at) =~# '^- ' && getline(at) !~# '^- All say'})
endfunction
function! s:Said(at)
  " What was read with two kinds of line ends has one of them in its text.
  return substitute(getline(a:at)[2:], ' *\(<!--.*\)\?\r\?$', '', '')
endfunction
function! Add(dice, text)
  " It is undone by itself.
  let &undolevels = &undolevels
  let lines = s:Lines()
  let at = a:dice % 2 ? lines[a:dice % len(lines)] : line('$')
  execute 'normal! ' .. at .. 'Go- ' .. a:text
  call add(s:changes, ['', a:text])
endfunction
function! Reword(dice, text)
  let lines = s:Lines()
  let at = lines[a:dice % len(lines)]
  call add(s:changes, [s:Said(at), a:text])
  execute at .. 's/^- \zs.\{-}\ze *\(<!--.*\)\?\r\?$/' .. a:text .. '/'
endfunction
function! Delete(dice)
  let lines = s:Lines()
  if len(lines) < 3
    return
  endif
  let said = s:Said(lines[a:dice % len(lines)])
  call add(s:changes, [said, ''])
  execute 'g/^- ' .. said .. ' *\(<!--.*\)\?\r\?$/d'
endfunction
function! Undo(text)
  undo
  call add(s:changes, [a:text, ''])
endfunction
function! Save(how)
  " vim asks whether to write over what has changed, and forgets all that was typed before.
  call test_feedinput("y\<Esc>")
  try
    execute a:how
  catch /E949:/
    " Somebody was faster than the answer; a person tries again.
    let again = 1
  endtry
  while getchar(0) isnot 0
  endwhile
  if exists('again')
    call Save(a:how)
  endif
endfunction
"""


def trials(folder: Path, dice: random.Random) -> Iterator[Trial]:
    """Let a person edit in vim, with each way of keeping a backup; a case is one save."""
    if shutil.which("vim") is None:
        raise MissingError("vim is not installed")
    for number in count():
        for backup in dice.sample(("auto", "yes", "no"), 3):
            place = folder / f"{number}-{backup}"
            session = _Session(place, dice, backup)
            wrong = session.run()
            yield Trial(session.what, wrong, session.saves)
            shutil.rmtree(place)


class _Session:
    """One session of vim.

    Attributes:
        what: How it is set up.
        saves: How often the person saved.
    """

    def __init__(self, place: Path, dice: random.Random, backup: str) -> None:
        self.saves = 0
        self._dice = dice
        self._file = dice.choice(("rules.md", "lessons.md"))
        self._root = place / ".engramdown"
        self._memory = self._root / "memory"
        self._told = place / "saves"
        self._script = place / "session.vim"
        self._reload = dice.choice(("", "edit!", "checktime"))
        names = ("writebackup", "backup", "autoread", "swapfile", "undofile", "fixendofline")
        chosen = [f"{dice.choice(('', 'no'))}{name}" for name in names]
        chosen += dice.choice(([], ["noendofline"], ["fileformat=dos"], ["bomb"]))
        self._options = [*chosen, f"backupcopy={backup}"]
        self.what = " ".join([self._file, self._reload or "never", *self._options])

    def run(self) -> str:
        """Let the agents write and the person edit, and return what is violated, or ``""``."""
        store = Hippocampus(self._root, disk=Disk(durable=False), lock_timeout=60)
        before = [f"Before {number}" for number in range(4)]
        for text in before:
            _learn(store, self._file, text, 0)
        for name in _THEIRS:
            (self._memory / name).write_text("theirs", encoding="utf-8")
        self._script.write_text(_SCRIPT + self._session(), encoding="utf-8")
        reports = [self._told.with_name(f"agent-{name}") for name in range(_AGENTS)]
        agents: list[subprocess.Popen[bytes]] = []
        try:
            for report in reports:
                agents.append(self._agent(len(agents), report))
            for agent in agents:
                # It is ready, and begins when it is answered.
                assert agent.stderr is not None
                assert agent.stderr.readline() == b"ready\n", agent.stderr.read()
            self._edit(agents)
            ended = [agent.wait(timeout=120) for agent in agents]
        finally:
            for agent in agents:
                agent.kill()
                agent.communicate()
        assert not any(ended), f"agents ended with {ended}"
        said = [line for report in reports for line in _lines(report)]
        return self._wrong([*before, *said])

    def _agent(self, name: int, report: Path) -> subprocess.Popen[bytes]:
        with report.open("wb") as out:
            return subprocess.Popen(
                [sys.executable, "-m", "tests.crash.vim", self._file, str(self._root), str(name)],
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
            )

    def _edit(self, agents: Sequence[subprocess.Popen[bytes]]) -> None:
        """Let the person edit from before the agents' first word on."""
        command = ["vim", "-u", "NONE", "-i", "NONE", "-N", "-S", str(self._script)]
        env = {**os.environ, "SAVES": str(self._told)}
        with Terminal([*command, str(self._memory / self._file)], env) as vim:
            for agent in agents:
                assert agent.stdin is not None
                agent.stdin.write(b"\n")
                agent.stdin.flush()
            assert vim.end() == 0, vim.text

    def _session(self) -> str:
        """Return what the person does, as a script."""
        steps = [f"  call {call}" for number in range(_SAVES) for call in self._acts(number)]
        # With a reload chosen, vim asks nobody what to do about a file that has changed.
        choose = "autocmd FileChangedShell * let v:fcs_choice = 'reload'"
        setting = [f"set {option}" for option in self._options]
        give_up = ["catch", "  echomsg v:exception v:throwpoint", "  cquit", "endtry"]
        return "\n".join([choose, *setting, "try", *steps, *give_up, ""])

    def _acts(self, number: int) -> Iterator[str]:
        """Yield what the person does up to their next save, as calls."""
        dice, last = self._dice, number == _SAVES - 1
        if self._reload and dice.random() < 0.6:
            yield f"execute('{self._reload}')"
        for at in range(dice.choice((1, 1, 2))):
            how, thrown = dice.choice(("Add", "Add", "Reword", "Delete")), dice.randrange(10**6)
            text = f", 'Typed {number} {at}'" if how != "Delete" else ""
            yield f"{how}({thrown}{text})"
        # From faster than anybody saves by hand to slowly.
        pause = f"execute('sleep {dice.choice((1, 30, 100, 400))}m')"
        yield pause
        if dice.random() < 0.2:
            # Saved, thought better of, and saved once more without it.
            yield f"Add({dice.randrange(10**6)}, 'Hasty {number}')"
            yield "Save('write!')"
            yield f"Undo('Hasty {number}')"
            yield pause
        yield f"Save('{'wq!' if last else dice.choice(('write', 'write!'))}')"

    def _wrong(self, said: Sequence[str]) -> str:
        store = Hippocampus(self._root)
        store.notice()
        found = Counter(entry.text for entry in store.entries())
        wanted = {*said}
        for line in _lines(self._told):
            self.saves += 1
            for before, after in json.loads(line):
                wanted = (wanted - {before}) | ({after} if after else set())
        assert self.saves >= _SAVES, f"vim saved {self.saves} times"
        files = {
            path.relative_to(self._memory).as_posix(): path.read_bytes().decode("utf-8")
            for path in [*self._memory.glob("*.md"), *self._memory.glob("topics/*.md")]
        }
        # vim leaves a backup behind where it saw that somebody was faster (E949).
        backups = {path.name for path in self._memory.glob(f"{self._file[:-1]}?~")}
        strays = {path.name for path in self._memory.iterdir()} - files.keys() - backups
        asked = files.get("pending.md", "")
        problems = {
            "lost": wanted - found.keys(),
            # What may have been deleted, or was not known to an old editor, is asked about.
            "came back": {
                text for text in found.keys() - wanted if f"Delete: {text} <" not in asked
            },
            "twice": {text for text, times in found.items() if times > 1},
            "not in the journal": files.keys() if files != replayed(self._root) else set(),
            "other files": strays ^ self._expected(),
            "noticed": {"something"} if Hippocampus(self._root).notice() else set(),
        }
        return "; ".join(f"{name}: {sorted(what)[:5]}" for name, what in problems.items() if what)

    def _expected(self) -> set[str]:
        """Return what stands beside the memory files: what vim keeps, it keeps."""
        expected = {".lock", *_THEIRS}
        if self._file == "lessons.md":
            expected.add("topics")
        if "undofile" in self._options:
            expected.add(f".{self._file}.un~")
        return expected


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def _learn(store: Hippocampus, file: str, text: str, number: int) -> None:
    if file == "rules.md":
        store.encode_rule(text, kind=("always", "never", "when")[number % 3])
    else:
        store.encode_lesson(text, topic=("", "ci")[number % 2])


def main() -> None:
    """Be an agent: FILE FOLDER NAME; learn for that file, and say what was acknowledged."""
    file, folder, name = sys.argv[1:]
    store = Hippocampus(Path(folder), disk=Disk(durable=False), lock_timeout=120)
    dice = random.Random(name)
    sys.stderr.write("ready\n")
    sys.stderr.flush()
    sys.stdin.readline()
    for number in range(_EACH):
        shared = number % _SHARED == 0
        text = f"All say {number}" if shared else f"Agent {name} says {number}"
        _learn(store, file, text, number)
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
        time.sleep(dice.choice(_PAUSES))


if __name__ == "__main__":
    main()
