"""A long run: anything that is done to one scope, in any order, beside a model of a few lines.

Promises: the model knows each memory by its number, in whatever words it stands; after every step
the files, two stores that have been open all along and one that has just been opened say what the
model says. tests/end_to_end/test_any_story.py does the same for what the gate lets in; this is the
store below it, whose processes are killed and whose files a person saves from old buffers.
"""

from __future__ import annotations

import random
import re
import shutil
import tempfile
import traceback
from collections.abc import Callable, Container, Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import Final, NamedTuple
from unittest.mock import patch

from hypothesis import HealthCheck, Phase, note, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from engramdown import Cortex
from engramdown.engram import Engram, Kind
from engramdown.errors import EngramdownError, UndoRefusedError
from engramdown.hippocampus.changeset import Revision
from engramdown.hippocampus.entry import Entry
from engramdown.hippocampus.history import Step
from engramdown.hippocampus.store import Hippocampus
from tests.cortex.person import Person
from tests.crash.campaign import Trial
from tests.crash.scopes import strays
from tests.crash.sleeper import replayed
from tests.hippocampus.disks import CHANGING, Point, WatchedDisk
from tests.hippocampus.editors import STYLES, save

_FILES: Final[dict[Kind, str]] = {
    "always": "rules.md",
    "never": "rules.md",
    "when": "rules.md",
    "lesson": "lessons.md",
    "profile": "profile.md",
}
_OWN: Final = "> Mine:  keep `this`\tas it is. \n\n<!-- a private note, with  two  spaces -->\n\n"
_NAMES: Final = sorted(set(_FILES.values()))
_ITEM: Final = re.compile(r"^- Item (\d+)\b[^\n]*(?:\n[ \t]+[^\n]*)*(?:\n|\Z)", re.MULTILINE)
_STEPS: Final = 60

_FILE: Final = st.sampled_from(_NAMES)
_FORMS: Final = st.sampled_from(
    ["plain", "said\nin two lines", "said with <!-- a comment --> in it"]
)
_KINDS: Final[st.SearchStrategy[Kind]] = st.sampled_from(sorted(_FILES))
# At which point of the disk a process is killed, or 0.
_FUSES: Final = st.just(0) | st.integers(1, 40)


class KilledError(BaseException):
    """The process of a store is gone."""


class State(NamedTuple):
    """What the model knows of a memory.

    Attributes:
        said: Its text.
        kind: See :class:`engramdown.Engram`.
        topic: Its topic, or ``""``.
        where: ``live``, ``archive`` or, if it never was or was undone, ``nowhere``.
        times: How often something happened to it.
    """

    said: str
    kind: Kind
    topic: str = ""
    where: str = "live"
    times: int = 0

    @property
    def file(self) -> str:
        """The file in which it stands."""
        return _FILES[self.kind]

    def is_live(self, kind: str = "") -> bool:
        """Whether it stands in memory, as one of a kind if need be."""
        return self.where == "live" and kind in ("", self.kind)

    def then(self, *, said: str = "", where: str = "") -> State:
        """Return it after something happened to it."""
        return self._replace(
            said=said or self.said, where=where or self.where, times=self.times + 1
        )


Model = dict[int, State]


class Buffer(NamedTuple):
    """A file in a person's editor, and what the model said when it was read."""

    text: str
    model: Model


class Process:
    """A store in a process of its own, which can be killed at a point of its disk."""

    def __init__(self, root: Path) -> None:
        """Open a scope."""
        self.store = Hippocampus(root, disk=WatchedDisk(self._watch), lock_timeout=5.0)
        self._left = 0
        self._torn: tuple[Path, bytes] | None = None

    def run(self, act: Callable[[Hippocampus], object], fuse: int) -> bool:
        """Do something, and return whether the process lived to see its end."""
        self._left = fuse
        try:
            act(self.store)
        except KilledError:
            if self._torn:
                path, data = self._torn
                path.write_bytes(data)
            return False
        self._left = 0
        return True

    def _watch(self, point: Point) -> None:
        if self._left < 0:
            raise KilledError  # Who is dead cleans nothing up.
        if not self._left or point.call not in CHANGING:
            return
        self._left -= 1
        if not self._left:
            self._left = -1
            if (point.call, point.moment) == ("append", "half"):
                self._torn = point.path, point.path.read_bytes()
            raise KilledError


class LongRun(RuleBasedStateMachine):
    """A person, two processes, and the files of one scope.

    Attributes:
        steps: How many steps were taken, by all of this class.
        kills: How many processes were killed.
    """

    steps = 0
    kills = 0

    def __init__(self) -> None:
        """Begin with what a person wrote."""
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.root = self.folder / ".engramdown"
        self.person = Person(self.root)
        self.numbers = count(1)
        self.model: Model = {}
        self.buffers: dict[str, Buffer] = {}
        # What each step did that can be undone: the states before and after, by number.
        self.taken: dict[str, dict[int, tuple[State, State]]] = {}
        self.undone: set[str] = set()
        self.processes = [Process(self.root), Process(self.root)]
        self.processes[0].store.start()
        for name in _NAMES:
            self.person.saves(name, _OWN + self.person.reads(name))
        self.processes[1].store.notice()

    def teardown(self) -> None:
        """Leave nothing behind."""
        shutil.rmtree(self.folder)

    def among(self, data: st.DataObject, *where: str, kind: str = "") -> int:
        """Return the number of a memory that is somewhere, or 0."""
        found = [
            number
            for number, state in self.model.items()
            if state.where in where and kind in ("", state.kind)
        ]
        return data.draw(st.sampled_from(found)) if found else 0

    def entry(self, number: int) -> Entry:
        """Return a memory as it stands."""
        entries = self.processes[0].store.entries()
        (found,) = [each for each in entries if each.text == self.model[number].said]
        return found

    # What processes do.

    def act(
        self,
        data: st.DataObject,
        act: Callable[[Hippocampus], object],
        changes: Model,
        *,
        settled: bool = True,
    ) -> None:
        """Let a process do something that changes the model so, or be killed over it."""
        LongRun.steps += 1
        at, fuse = data.draw(st.integers(0, 1)), data.draw(_FUSES)
        process = self.processes[at]
        before, after = self.model, self.model | changes
        others = self.lines_but(changes)
        known = {step.id for step in process.store.history()}
        if process.run(act, fuse):
            self.model = after
        else:
            LongRun.kills += 1
            process = self.processes[at] = Process(self.root)
            process.store.notice()
            there = {each.text for each in process.store.entries()}
            landed = all((s.said in there) == s.is_live() for s in changes.values())
            self.model = after if landed else before
        for step in process.store.history():
            if step.id not in known and step.by not in ("person", "engramdown"):
                self.note(step)
                self.taken[step.id] = {
                    number: (before.get(number, state._replace(where="nowhere")), state)
                    for number, state in changes.items()
                }
        # A save of a person that was taken in on the way brings lines of its own.
        assert not settled or self.lines_but(changes) == others

    def note(self, step: Step) -> None:
        """Note what a step undid; what was undone by that can be undone once more."""
        if step.op == "undo":
            self.undone.add(step.of)
            of = next(each.of for each in self.processes[0].store.history() if each.id == step.of)
            self.undone.discard(of)

    def lines_but(self, changes: Model) -> list[str]:
        """Return the lines that are not about certain memories, nor headings."""
        meant = re.compile(rf"Item (?:0|{'|'.join(map(str, changes))})\b|^#|in two lines")
        texts = [self.person.reads(name) for name in _NAMES]
        lines = [line for text in texts for line in text.split("\n")]
        return [line for line in lines if line.strip() and not meant.search(line)]

    def learns(self, data: st.DataObject, kind: Kind, form: str, *, settled: bool = True) -> None:
        """Let a process learn something new."""
        number = next(self.numbers)
        said = f"Item {number}: {form}" if kind == "profile" else f"Item {number} is {form}"
        topic = data.draw(st.sampled_from(["", "ci", "deep-sea"])) if kind == "lesson" else ""
        engram = Engram(said, kind, "project", topic=topic)
        changes = {number: State(said, kind, topic)}
        self.act(data, lambda store: store.encode([engram]), changes, settled=settled)

    @rule(data=st.data(), kind=_KINDS, form=_FORMS)
    def somebody_learns(self, data: st.DataObject, kind: Kind, form: str) -> None:
        """A process learns something new."""
        self.learns(data, kind, form)

    @precondition(lambda self: self.model)
    @rule(data=st.data())
    def somebody_is_told_again(self, data: st.DataObject) -> None:
        """The user says what is known, or what had gone: then it is back."""
        number = self.among(data, "live", "archive", "nowhere")
        state = self.model[number]
        engram = Engram(state.said, state.kind, "project", topic=state.topic, source="user")
        changes = {number: state.then(where="live")}
        self.act(data, lambda store: store.encode([engram]), changes)

    @rule(data=st.data())
    def somebody_forgets(self, data: st.DataObject) -> None:
        """A memory is retired."""
        if number := self.among(data, "live"):
            entry = self.entry(number)
            changes = {number: self.model[number].then(where="archive")}
            self.act(data, lambda store: store.forget(entry.id), changes)

    @rule(data=st.data())
    def somebody_restores(self, data: st.DataObject) -> None:
        """What was retired comes back."""
        if number := self.among(data, "archive"):
            state = self.model[number]
            archived = [each.entry for each in self.processes[0].store.archived()]
            entry = [each for each in archived if each.text == state.said][-1]
            changes = {number: state.then(where="live")}
            self.act(data, lambda store: store.restore(entry.id), changes)

    @rule(data=st.data())
    def somebody_rewords(self, data: st.DataObject) -> None:
        """A memory is put in other words."""
        if number := self.among(data, "live"):
            entry, state = self.entry(number), self.model[number]
            said = f"Item {number}: reworded, time {state.times}"
            changes = {number: state.then(said=said)}
            self.act(data, lambda store: store.update(entry.id, said), changes)

    @rule(data=st.data())
    def a_fact_changes(self, data: st.DataObject) -> None:
        """A fact of a known key takes the place of the older one."""
        if number := self.among(data, "live", kind="profile"):
            state = self.model[number]
            said = f"Item {number}: changed, time {state.times}"
            changes = {number: state.then(said=said)}
            self.act(data, lambda store: store.rewrite_identity([said]), changes)

    @rule(data=st.data(), kind=_KINDS)
    def somebody_compacts(self, data: st.DataObject, kind: Kind) -> None:
        """Of three memories two become one, and one expires."""
        numbers = [number for number, state in self.model.items() if state.is_live(kind)]
        if len(numbers) < 3:
            return
        first, second, third = data.draw(st.permutations(numbers))[:3]
        one, other, old = (self.entry(number) for number in (first, second, third))
        number = next(self.numbers)
        said = f"Item {number}: all of {first} and {second}"
        plan = [
            Revision((one, other), "merged", comes=one._replace(text=said)),
            Revision((old,), "expired"),
        ]
        gone = {each: self.model[each].then(where="archive") for each in (first, second, third)}

        def compact(store: Hippocampus) -> None:
            assert [each.problem for each in store.apply(plan)] == ["", ""]

        self.act(data, compact, gone | {number: State(said, kind, one.topic)})

    @rule(data=st.data(), named=st.booleans())
    def somebody_undoes(self, data: st.DataObject, *, named: bool) -> None:
        """A step is taken back if nobody touched what it did since; else it may be refused."""
        found = self.processes[0].store.undoable()
        chosen = next((each.step.id for each in found if not each.gone), "")
        if named and self.taken.keys() - self.undone:
            left = [each for each in self.taken if each not in self.undone]
            chosen = data.draw(st.sampled_from(left))
        if not chosen:
            return
        did = self.taken.get(chosen, {})
        if all(self.model[number] == after for number, (_, after) in did.items()):
            changes = {
                number: before._replace(times=after.times + 1)
                for number, (before, after) in did.items()
            }
            self.act(data, lambda store: store.undo(chosen if named else ""), changes)
        else:
            self.undo_what_was_touched(chosen)

    def undo_what_was_touched(self, step_id: str) -> None:
        """Undo a step whose memories are not as it left them: all, some or none of it."""
        store = self.processes[0].store
        did = self.taken[step_id]
        if any(self.model[number].said != before.said for number, (before, _) in did.items()):
            step = next(step for step in store.history() if step.id == step_id)
            here = {entry.id for entry in store.entries()}
            took = {each.id for each in step.changes if each.after is None} - here
            if step.op == "undo" or (took and not self.is_fact(did)):
                return  # What was learned anew is another memory, beside which the old one stands.
        meant = {number: after for number, (_, after) in did.items()}
        others = self.lines_but(meant)
        try:
            store.undo(step_id)
        except UndoRefusedError:
            return  # Then all is as it was, which the invariants look at.
        texts = {entry.text for entry in store.entries()}
        archived = {each.entry.text for each in store.archived()}
        became = {}
        for number, (before, _) in did.items():
            now = self.model[number]
            said = before.said if before.said in texts else now.said
            where = "live" if said in texts else "archive" if said in archived else "nowhere"
            became[number] = now, now.then(said=said, where=where)
            self.model[number] = became[number][1]
        assert self.lines_but(meant) == others
        last = store.history()[-1]
        if last.of == step_id:  # Else there was nothing left to do.
            self.note(last)
            self.taken[last.id] = became

    def is_fact(self, did: Iterable[int]) -> bool:
        """Whether memories are facts, of which there is one of a key."""
        return all(self.model[number].kind == "profile" for number in did)

    @rule(at=st.integers(0, 1))
    def somebody_opens_it(self, at: int) -> None:
        """Another process takes the place of one."""
        self.processes[at] = Process(self.root)

    # What a person does.

    @rule(name=_FILE)
    def the_person_opens(self, name: str) -> None:
        """A file is read into an editor, and may stay there for long."""
        self.buffers[name] = Buffer(self.person.reads(name), dict(self.model))

    @precondition(lambda self: self.buffers)
    @rule(
        data=st.data(),
        how=st.sampled_from(["add", "reword", "delete", "idle"]),
        style=st.sampled_from(sorted(STYLES)),
        then=st.sampled_from(["look", "learn"]),
    )
    def the_person_saves(self, data: st.DataObject, how: str, style: str, then: str) -> None:
        """One thing is changed in an editor, however old what it shows, and saved."""
        name = data.draw(st.sampled_from(sorted(self.buffers)))
        text, changes = self.edited(data, name, how)
        if text is None:
            return
        LongRun.steps += 1
        save(style, self.person.memory / name, text)
        self.buffers[name] = Buffer(text, self.buffers[name].model | changes)
        self.model = self.model | changes
        if then == "look":
            self.processes[data.draw(st.integers(0, 1))].store.notice()
        else:
            # Whoever writes into the file takes it in first.
            self.learns(data, _kind(name), "learned over a save", settled=False)
        self.adopt(changes)

    def edited(self, data: st.DataObject, name: str, how: str) -> tuple[str | None, Model]:
        """Return what a person saves and what they mean by it; nothing if it cannot be told."""
        text, then = self.buffers[name]
        places = {int(found[1]): found for found in _ITEM.finditer(text)}
        here = [n for n, state in self.model.items() if state.is_live() and state.file == name]
        own = {n for n, found in places.items() if "<!-- id:" not in found[0]}
        if any(then.get(number) != self.model[number] for number in own):
            # A line without an id that was reworded since is told from a new one by nothing: then
            # its old words may stand beside the new ones, but nothing is lost.
            return None, {}
        if how == "idle":
            # The lack of one entry of ours and nothing else reads as its deletion, and so does a
            # file without any: docs/decisions/2026-11-files.md.
            unknown = [number for number in here if number not in places]
            return (None if len(unknown) == 1 or not places else text), {}
        if how == "add":
            number = next(self.numbers)
            said = f"Item {number}: by hand"
            at = data.draw(st.sampled_from([len(text), *(each.end() for each in places.values())]))
            gap = "" if text[:at].endswith("\n") else "\n"
            return f"{text[:at]}{gap}- {said}\n{text[at:]}", {number: State(said, _kind(name))}
        known = [n for n in here if n in places and then.get(n) == self.model[n]]
        # So it is with one that was gone for a while: it may have been added to what stood then.
        known = [n for n in known if n not in own or not self.model[n].times]
        if how == "reword":
            known = [n for n in known if not re.search(r"[\n<]", self.model[n].said)]
        if not known or (how == "delete" and len(places) == 1):
            # A file without entries reads as cleared: docs/decisions/2026-11-files.md.
            return None, {}
        number = data.draw(st.sampled_from(known))
        state, found = self.model[number], places[number]
        if how == "delete":
            return text[: found.start()] + text[found.end() :], {
                number: state.then(where="archive")
            }
        said = f"Item {number}: by hand, time {state.times}"
        line = found[0].replace(state.said, said, 1)
        return text[: found.start()] + line + text[found.end() :], {number: state.then(said=said)}

    def adopt(self, changes: Model) -> None:
        """Take from the files what a save leaves open: the kind of a line, and a question."""
        entries = {entry.text: entry for entry in self.processes[0].store.entries()}
        questions = self.person.reads("pending.md")
        for number in changes:
            state = self.model[number]
            if state.said not in entries:
                continue  # It is deleted, or else what must hold does not.
            if state.is_live():
                self.model[number] = state._replace(kind=entries[state.said].kind)
            elif re.search(rf"Delete: Item {number}\b", questions):
                # The file is as it was before this and other lines were written:
                # docs/decisions/2026-11-files.md.
                self.model[number] = state._replace(where="live")
                self.mistake(entries)

    def mistake(self, said: Container[str]) -> None:
        """Take over that another deletion, which explains a save as well, was taken for it."""
        archived = {each.entry.text for each in self.processes[0].store.archived()}
        gone = [number for number, state in self.model.items() if state.is_live()]
        gone = [number for number in gone if self.model[number].said not in said]
        if len(gone) == 1 and self.model[gone[0]].said in archived:
            self.model[gone[0]] = self.model[gone[0]].then(where="archive")

    # What must hold.

    def tell(self) -> None:
        """Tell what was journalled, in case that something is wrong."""
        steps = self.processes[0].store.history()
        note("\n".join(f"{step.id} {step.by} {step.op} {step.of}" for step in steps))
        note("\n".join(f"{number}: {state}" for number, state in self.model.items()))

    @invariant()
    def memory_is_what_the_model_says(self) -> None:
        """Each memory stands once, for every process, and nothing else does."""
        wanted = _live(self.model)
        for store in (*(each.store for each in self.processes), Hippocampus(self.root)):
            there = sorted(entry.text for entry in store.entries())
            if there != wanted:
                self.tell()
            assert there == wanted, f"{there} stand, not {wanted}"
            entries = [*store.recall_identity(), *store.recall_rules(), *store.recall_lessons()]
            assert sorted(entry.text for entry in entries) == wanted
        for topic in ("ci", "deep-sea"):
            found = [entry.text for entry in store.recall_topic(topic)]
            said = [s.said for s in self.model.values() if s.is_live() and s.topic == topic]
            assert sorted(found) == sorted(said)
        archived = {each.entry.text for each in store.archived()}
        assert {s.said for s in self.model.values() if s.where == "archive"} <= archived

    @invariant()
    def files_are_in_order(self) -> None:
        """The journal tells of them, a person's bytes are theirs, and nothing lies about."""
        assert not Hippocampus(self.root).notice()
        assert not strays(self.root), strays(self.root)
        memory = self.person.memory
        paths = [*memory.glob("*.md"), *memory.glob("topics/*.md")]
        texts = {
            path.relative_to(memory).as_posix(): path.read_bytes().decode("utf-8") for path in paths
        }
        assert {name: text for name, text in texts.items() if text} == replayed(self.root)
        assert all(texts[name].count(_OWN) == 1 for name in _NAMES)

    @precondition(lambda self: self.model)
    @rule(data=st.data())
    def the_person_asks(self, data: st.DataObject) -> None:
        """What is remembered is found by its words, and what is not is not."""
        number = self.among(data, "live", "archive", "nowhere")
        cortex = Cortex.open(project=self.folder, home=self.folder / "home")
        said = self.model[number].said
        found = [entry.text for entry in cortex.recall(said, limit=len(self.model))]
        assert (said in found) == self.model[number].is_live()


def _kind(name: str) -> Kind:
    """Return the first kind of those that a file holds."""
    return next(kind for kind, file in _FILES.items() if file == name)


def _live(model: Model) -> list[str]:
    return sorted(state.said for state in model.values() if state.is_live())


def story(number: int, *, steps: int = _STEPS, examples: int = 4) -> None:
    """Run the machine, with a seed of its own; it raises what is violated, and how.

    Args:
        number: The seed.
        steps: How many steps a story has.
        examples: How many stories are told; the first is always a dull one.
    """
    how = settings(
        max_examples=examples,
        stateful_step_count=steps,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )

    class Seeded(LongRun):
        """The machine, with a seed of its own."""

    seed(number)(Seeded)
    run_state_machine_as_test(Seeded, settings=how)


def trials(folder: Path, dice: random.Random) -> Iterator[Trial]:
    """Tell one story after the other; a case is a step."""
    while True:
        number = dice.randrange(2**32)
        begun, wrong = LongRun.steps, ""
        with patch.object(tempfile, "tempdir", str(folder)):
            try:
                story(number)
            except (AssertionError, EngramdownError):
                # Hypothesis tells in a note what was done.
                wrong = traceback.format_exc()
        yield Trial(f"the stories of seed {number}", wrong, LongRun.steps - begun)
