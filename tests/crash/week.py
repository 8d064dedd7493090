"""A week of use: two people, their assistants, their editors, git, crashes, and a ledger beside it.

Promises: all that is done is done by programs of their own, at the hour that the story tells; at
the end of every hour everybody rests, and what stands in memory is compared with the ledger; the
first thing that is wrong ends the week, and names the day, the hour and what was done in it.
"""

from __future__ import annotations

import json
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any, Final

from tests.crash.campaign import Trial
from tests.crash.clocks import Clock
from tests.crash.ledger import GONE, Ledger, State, live, merged, waits
from tests.crash.post import Post

_CONFLICT: Final = re.compile(r"^<{7} .*?^>{7} [^\n]*\n", re.MULTILINE | re.DOTALL)
_MARKER: Final = re.compile(r"^(?:<{7} |={7}$|>{7} |\|{7} )[^\n]*\n", re.MULTILINE)
_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_SYLLABLES: Final = (
    "ba be bo da de do fa fi ga go ka ku la lo ma mi na no pa po ra ri sa so ta tu va vo za zu"
)


class Week:
    """Seven days.

    Attributes:
        did: What was done in this hour, for the record.
    """

    def __init__(self, place: Path, dice: random.Random) -> None:
        """Set up a desk, and what it shares with another one."""
        self.did: list[str] = []
        self._dice = dice
        self._place = place
        self._codes = self._words()
        self._errands = count(1)
        place.mkdir(parents=True)
        self._clock = Clock(place)
        subprocess.run(
            ["git", "init", "--quiet", "--bare", "--initial-branch=main", str(place / "origin")],
            check=True,
        )
        self.ada = Post(place / "ada", "Ada", self._clock, dice)
        self.ada.run("init", "--git", "--hook", "--yes")
        self.ada.write("README", "A project.\n")
        self.ada.git("remote", "add", "origin", str(place / "origin"))
        self.ada.save("Begin")
        self.ada.git("push", "--quiet", "--set-upstream", "origin", "main")
        self._base = self.ada.ledger.copy()

    @cached_property
    def bea(self) -> Post:
        """The other desk, at which somebody sits down when she is needed."""
        place = self._place / "bea"
        place.mkdir()
        self.ada.git("clone", "--quiet", str(self._place / "origin"), str(place / "work"))
        bea = Post(place, "Bea", self._clock, self._dice)
        bea.run("init", "--git", "--hook", "--yes")
        bea.ledger = self._base.copy()
        return bea

    def hours(self) -> Iterator[Trial]:
        """Yield what came of each hour; after one that is wrong nothing is worth doing."""
        agenda: dict[int, Callable[[], int]] = {
            7: self._morning,
            9: self._work,
            11: self._work,
            13: self._branch,
            15: self._work,
            17: self._tend,
            20: self._evening,
            23: self._night,
        }
        begin = self._clock.now.replace(hour=0, minute=0, second=0) + timedelta(days=1)
        # It begins in the middle of a day, with something that does not take long.
        skip = self._dice.choice((1, 2, 4, 5))
        for at in range(skip, len(_DAYS) * len(agenda)):
            day, hour = at // len(agenda), sorted(agenda)[at % len(agenda)]
            self._clock.pass_until(begin + timedelta(days=day, hours=hour))
            self.did = []
            wrong, acts = "", 0
            try:
                acts = agenda[hour]()
            except (AssertionError, subprocess.TimeoutExpired) as error:
                wrong = str(error)
            when = f"{_DAYS[day]} {hour:02}:00"
            yield Trial(
                f"{when}, {agenda[hour].__name__}: {'; '.join(self.did)}", wrong, max(acts, 1)
            )

    # The hours.

    def _morning(self) -> int:
        """Bea worked late and pushes; Ada pulls."""
        acts = self._hour(self.bea, 2)
        self.bea.save("Bea's work")
        self._push(self.bea)
        self.ada.save("What the night brought")
        how = self._dice.choice(("--no-rebase", "--no-rebase", "--rebase"))
        with self._watched(self.ada, 0.3):
            self.did.append(f"git pull {how}")
            self.ada.person.close()
            self._bring(self.ada, "pull", "--quiet", how, "--no-edit")
        self._adopt(self._base, self.bea.ledger)
        self.ada.check()
        return acts

    def _work(self) -> int:
        """Ada and her assistants work."""
        return self._hour(self.ada, self._dice.choice((1, 2, 3, 4)))

    def _branch(self) -> int:
        """Work on a branch and on the main line, and a merge."""
        ada, base = self.ada, self.ada.ledger.copy()
        ada.save("Before the branch")
        ada.person.close()
        ada.git("switch", "--quiet", "--create", "side")
        self._rest()
        acts = self._hour(ada, self._dice.choice((1, 2)), share=0)
        ada.save("On the branch")
        side = ada.ledger
        ada.person.close()
        with self._watched(ada, 0.3):
            ada.git("switch", "--quiet", "main")
            ada.ledger = base.copy()
            ada.ledger.know(side.codes)
        self._rest()
        ada.check()
        acts += self._hour(ada, 1, share=1)
        ada.save("On the main line")
        ada.person.close()
        with self._watched(ada, 0.3):
            self._bring(ada, "merge", "--quiet", "--no-edit", "side")
            self._adopt(base, side)
        ada.git("branch", "--quiet", "--delete", "side")
        ada.check()
        return acts

    def _tend(self) -> int:
        """Ada tends memory herself, at the command line."""
        acts = (self._forget, self._restore, self._remember, self._undo, self._compact, self._ask)
        chosen = [self._dice.choice(acts) for _ in range(4)]
        for act in chosen:
            act()
            self.ada.check()
        return len(chosen)

    def _evening(self) -> int:
        """All is committed and pushed; Bea sees the same."""
        self.ada.save("The day's work")
        self._push(self.ada)
        self.bea.person.close()
        self.bea.git("pull", "--quiet", "--no-rebase")
        self.bea.ledger = self.ada.ledger.copy()
        self.bea.check()
        here, there = (self._texts(desk) for desk in (self.ada, self.bea))
        assert here == there, f"Bea sees other things: {(here - there) + (there - here)}"
        self._base = self.ada.ledger.copy()
        for desk in (self.ada, self.bea):
            desk.examine()
        return 2

    def _night(self) -> int:
        """Sleep, which may be cut short."""
        if self._dice.random() < 0.3:
            with self._running(self.ada, ["sleep", "--no-model"]) as asleep:
                time.sleep(self._dice.uniform(0.1, 0.6))
                asleep.kill()
            self.did.append("sleep was killed")
        self.did.append("sleep")
        self.ada.run("sleep", "--no-model")
        self.ada.check(unseen=True)
        return 1

    # What an hour is made of.

    def _hour(self, desk: Post, crowd: int, share: int = -1) -> int:
        """Let assistants work and the person edit, then look at what stands in memory."""
        dice = self._dice
        mine = {
            code: text
            for code, text in desk.ledger.all_live().items()
            if self._is_free(code, text, desk, share)
        }
        hands: list[dict[str, str]] = [{} for _ in range(crowd + 1)]
        for code, text in mine.items():
            dice.choice(hands)[code] = text
        waiting = desk.ledger.all_waiting() if desk is self.ada and share < 1 else {}
        desk.person.begin(self._take(8, desk), hands.pop(), waiting)
        errands = [self._errand(desk, hand) for hand in hands]
        with self._watched(desk, 0.4):
            self._let_work(desk, errands)
        acts = sum(self._fold(desk, errand) for errand in errands)
        self.did += desk.person.did
        if dice.random() < 0.3:
            self._spoil(desk)
        desk.check(unseen=True)
        return acts

    def _is_free(self, code: str, text: str, desk: Post, share: int) -> bool:
        """Whether a memory may be touched here: nobody changes what somebody else may change."""
        if not code.isalpha() or text.startswith("Keep the"):
            return False
        number = zlib.crc32(code.encode())
        is_bea = number % 3 == 0
        return is_bea == (desk is not self.ada) and share in (-1, number // 3 % 2)

    def _let_work(self, desk: Post, errands: list[dict[str, Any]]) -> None:
        dice = self._dice
        running = [self._start(desk, errand) for errand in errands]
        end = {id(each): 0.0 for each in running}
        if dice.random() < 0.35:
            end[id(dice.choice(running))] = time.monotonic() + dice.uniform(0.2, 1.2)
        edits = dice.randrange(7)
        try:
            while any(each.poll() is None for each in running) or edits > 0:
                for each in running:
                    if 0 < end[id(each)] < time.monotonic() and each.poll() is None:
                        each.kill()
                        self.did.append("an assistant was killed")
                if edits > 0 and dice.random() < 0.3:
                    edits -= 1
                    desk.person.act(desk.ledger)
                time.sleep(dice.choice((0.02, 0.05, 0.1)))
                assert all(each.poll() in (None, 0, -signal.SIGKILL) for each in running)
        finally:
            for each in running:
                each.kill()
                each.wait()

    def _start(self, desk: Post, errand: dict[str, Any]) -> subprocess.Popen[str]:
        begun = subprocess.Popen(
            [sys.executable, "-m", "tests.crash.workday"],
            cwd=desk.top,
            env=desk.env,
            stdin=subprocess.PIPE,
            encoding="utf-8",
        )
        assert begun.stdin is not None
        json.dump(errand, begun.stdin)
        begun.stdin.close()
        return begun

    def _errand(self, desk: Post, mine: dict[str, str]) -> dict[str, Any]:
        number = next(self._errands)
        return {
            "name": f"{desk.author}{number % 4}",
            "project": str(desk.top),
            "home": str(desk.home),
            "mode": self._dice.choice(("autopilot", "copilot")),
            "seed": self._dice.randrange(2**32),
            "turns": self._dice.randrange(2, 10),
            "new": self._take(30, desk),
            "mine": mine,
            "report": str(self._place / f"report-{number}"),
            "tight": self._dice.random() < 0.3,
        }

    def _fold(self, desk: Post, errand: dict[str, Any]) -> int:
        """Take over what an assistant told, and return how much it did."""
        path = Path(errand["report"])
        lines = path.read_text(encoding="utf-8").split("\n")[:-1] if path.exists() else []
        begun: dict[int, dict[str, Any]] = {}
        done = Counter[str]()
        for told in map(json.loads, lines):
            if "said" in told:
                desk.said.setdefault(told["where"], []).append(told["said"])
            elif "talk" in told:
                desk.ledger.talk(told["talk"])
                desk.own.talk(told["talk"])
            elif "begin" in told:
                begun[told["begin"]] = told
            elif "refused" in told:
                del begun[told["refused"]]
                assert errand["tight"] or told["why"] != "discarded", told
                done["refused"] += 1
            elif "done" in told:
                ledger, code, state = self._meant(desk, begun.pop(told["done"]), told["became"])
                ledger.put(code, state)
                done[told["became"]] += 1
        for told in begun.values():
            for became in ("encoded", "queued") if told["what"] == "learn" else ("",):
                ledger, code, state = self._meant(desk, told, became)
                ledger.either(code, state)
            done["cut short"] += 1
        self.did.append(f"{errand['name']} in {errand['mode']}: {dict(done)}")
        return sum(done.values())

    def _meant(self, desk: Post, told: dict[str, Any], became: str) -> tuple[Ledger, str, State]:
        """Return what a deed makes of a memory."""
        what, code, text = told["what"], told["code"], told["text"]
        if what == "fact":
            return desk.own, code, live(text)
        if what in ("forget", "decline"):
            return desk.ledger, code, GONE
        return desk.ledger, code, waits(text) if became == "queued" else live(text)

    # What Ada does at the command line.

    def _forget(self) -> None:
        """Retire a memory by its id."""
        entry = self._some_entry()
        if entry:
            self.did.append(f"forget {entry[1]!r}")
            self.ada.run("forget", entry[0])
            self.ada.ledger.put(self.ada.ledger.code_of(entry[1]), GONE)

    def _restore(self) -> None:
        """Forget something and bring it back."""
        entry = self._some_entry()
        # A line without an id has one of its own in the archive.
        if entry and not entry[0].startswith("_"):
            self.did.append(f"forget and restore {entry[1]!r}")
            self.ada.run("forget", entry[0])
            self.ada.run("restore", entry[0])

    def _remember(self) -> None:
        """Say something."""
        (code,) = self._take(1, self.ada)
        text = f"{code} is what Ada says at {code[::-1]}"
        self.did.append(f"remember {text!r}")
        self.ada.run("remember", text)
        self.ada.ledger.put(code, live(text))

    def _undo(self) -> None:
        """Take back the last step, and take that back."""
        before = self.ada.look()
        said = self.ada.run("undo", "--json", codes=(0, 1))
        if not said.strip():
            return
        step = json.loads(said)["undone"]
        self.did.append(f"undo {step['op']} {step['id']} and back")
        between = {each[1] for each in self.ada.look()["entries"]}
        for change in step["changes"]:
            text = (change["before"] or "").removeprefix("- ").split(" <!--")[0].strip()
            if change["file"] not in ("archive.md", "pending.md") and change["after"] is None:
                assert text in between, f"undo did not bring back {text!r}"
        history = json.loads(self.ada.run("history", "--json"))
        back = next(each for each in history if each["op"] == "undo" and each["of"] == step["id"])
        self.ada.run("undo", back["id"])
        after = self.ada.look()
        for what in ("entries", "pending"):
            here, there = (Counter(map(_text_of, seen[what])) for seen in (before, after))
            assert here == there, f"undo and back: {what} differ: {(here - there) + (there - here)}"

    def _compact(self) -> None:
        """Say the same in fewer memories."""
        self.did.append("compact")
        self.ada.run("compact", "--yes", "--no-model", codes=(0, 1))

    def _ask(self) -> None:
        """Ask for a memory, why it is there, and what a model sees."""
        entry = self._some_entry()
        if not entry:
            return
        self.did.append(f"why {entry[1]!r}")
        why = json.loads(self.ada.run("why", entry[0], "--json"))
        assert why["text"] == entry[1], why
        assert why["steps"] or why["by_hand"] or why["commit"], why
        code = self.ada.ledger.code_of(entry[1])
        found = json.loads(self.ada.run("recall", code, "--json"))
        assert entry[1] in [each["text"] for each in found["memories"]], found
        context = self.ada.run("context")
        seen = {self.ada.ledger.code_of(line) for line in context.split("\n")}
        gone = {code for code, may in self.ada.ledger.may.items() if may == {GONE}}
        assert not seen & gone, f"the model sees what is gone: {seen & gone}"

    def _some_entry(self) -> list[str]:
        """Return an entry that Ada may touch."""
        found = [
            each
            for each in self.ada.look()["entries"]
            if each[4] == "project"
            and (code := self.ada.ledger.code_of(each[1]))
            and self._is_free(code, each[1], self.ada, -1)
        ]
        chosen: list[str] = self._dice.choice(found) if found else []
        return chosen

    # Everything else.

    def _texts(self, desk: Post) -> Counter[str]:
        return Counter(each[1] for each in desk.look()["entries"] if each[4] == "project")

    def _adopt(self, base: Ledger, theirs: Ledger) -> None:
        """Take over what git brought."""
        self.ada.ledger = merged(base, self.ada.ledger, theirs)

    def _bring(self, desk: Post, *how: str) -> None:
        """Let git merge; where two people wrote prose in one place, both stay."""
        asked = ["git", *how]
        while True:
            done = subprocess.run(
                asked,
                cwd=desk.top,
                env={**desk.env, "GIT_EDITOR": "true"},
                capture_output=True,
                encoding="utf-8",
                check=False,
            )
            if not done.returncode:
                return
            assert "CONFLICT" in done.stdout, (asked, done.stdout, done.stderr)
            for name in desk.git("diff", "--name-only", "--diff-filter=U").split():
                path = desk.top / name
                text = path.read_text(encoding="utf-8")
                entries = [found[0] for found in _CONFLICT.finditer(text) if "\n- " in found[0]]
                assert not entries, f"a conflict of entries: {entries}"
                path.write_text(_MARKER.sub("", text), encoding="utf-8")
                desk.git("add", name)
                self.did.append(f"both wrote prose in {name}")
            is_rebase = "--rebase" in how
            asked = ["git", "rebase", "--continue"] if is_rebase else ["git", "commit", "--no-edit"]

    def _rest(self) -> None:
        """Let some minutes pass: nobody edits in the second in which git moves."""
        self._clock.pass_until(self._clock.now + timedelta(minutes=5))

    def _push(self, desk: Post) -> None:
        desk.git("push", "--quiet", "origin", "main")

    @contextmanager
    def _watched(self, desk: Post, chance: float) -> Iterator[None]:
        """Let ``engramdown watch`` run meanwhile."""
        if self._dice.random() >= chance:
            yield
            return
        self.did.append("watched")
        with self._running(desk, ["watch", "--json"]) as watch:
            assert watch.stdout is not None
            assert "watching" in watch.stdout.readline()
            yield
            time.sleep(self._dice.choice((0.0, 0.3)))
            watch.terminate()
            watch.communicate(timeout=60)
            assert watch.returncode == 0, f"watch ended with {watch.returncode}"

    @contextmanager
    def _running(self, desk: Post, arguments: list[str]) -> Iterator[subprocess.Popen[str]]:
        begun = subprocess.Popen(
            [str(desk.bin / "engramdown"), *arguments],
            cwd=desk.top,
            env=desk.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        try:
            yield begun
        finally:
            begun.kill()
            begun.communicate()

    def _spoil(self, desk: Post) -> None:
        """Delete or spoil what can be made anew."""
        for root in (desk.root, desk.home):
            if self._dice.random() < 0.5:
                shutil.rmtree(root / "cache", ignore_errors=True)
            for path in (root / "cache").glob("*"):
                if path.is_file() and self._dice.random() < 0.5:
                    path.write_bytes(self._dice.randbytes(self._dice.randrange(5000)))
        self.did.append("caches spoilt")

    def _take(self, many: int, desk: Post) -> list[str]:
        """Return new code words, which nobody used before."""
        codes = [next(self._codes) for _ in range(many)]
        for each in (desk.ledger, desk.own):
            each.know(codes)
        return codes

    def _words(self) -> Iterator[str]:
        used = set()
        while True:
            word = "".join(self._dice.choice(_SYLLABLES.split()) for _ in range(4))
            if word not in used and word[::-1] not in used:
                used |= {word, word[::-1]}
                yield word


def _text_of(row: list[str]) -> str:
    """Return the text of a row of what was seen: it stands behind the id, or at the end."""
    return row[1] if len(row) > 3 else row[-1]


def trials(folder: Path, dice: random.Random) -> Iterator[Trial]:
    """Live through one week after the other; a case is something that somebody did."""
    for number in count():
        place = folder / f"{number}"
        for trial in Week(place, random.Random(dice.randrange(2**32))).hours():
            yield trial
            if trial.wrong:
                break
        shutil.rmtree(place, ignore_errors=True)
