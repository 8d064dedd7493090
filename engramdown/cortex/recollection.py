"""What the stores hold, on its way to a model.

Promises: an unchanged memory gives unchanged bytes, and is ranked with the index that was built
for it before; a project says who the assistant is before the global scope does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeVar

from engramdown import kinds
from engramdown.clock import today
from engramdown.context.sections import (
    BUDGETS,
    TEMPLATES,
    Memory,
    MemoryContext,
    Procedures,
    Section,
    build,
    scratchpad_section,
)
from engramdown.cortex.identity import Aside, Identity, Page, Why
from engramdown.engram import Scope, fact_key
from engramdown.errors import StoreError
from engramdown.hippocampus import snapshot
from engramdown.hippocampus.entry import Entry, address
from engramdown.hippocampus.history import Step
from engramdown.hippocampus.protocol import HippocampusProtocol
from engramdown.hippocampus.store import Hippocampus
from engramdown.kinds import PROFILE
from engramdown.markdown.document import Placed, parse
from engramdown.settings import Settings
from engramdown.storage.disk import named_errors

if TYPE_CHECKING:
    from engramdown.episodes.earlier_sessions import EarlierSession
    from engramdown.gate.arrivals import Pulled

__all__ = ["FOLDER", "SOUL", "Recollection"]

T = TypeVar("T")

SOUL: Final = f"memory/{kinds.SOUL}"
"""The page that says who the assistant is."""
FOLDER: Final = "templates"
"""Where a scope's own templates are."""


class _Candidate(NamedTuple):
    """A page that may be used: what it says, what a model may see of it, and why not, if known."""

    store: Hippocampus
    path: Path
    text: str
    shown: str
    why: Why | None = None


class Recollection:
    """What a global and a project store hold, as a model is shown it.

    Attributes:
        budgets: What the sections may cost, in tokens, where it is not the default.
    """

    def __init__(
        self,
        global_hc: HippocampusProtocol,
        project_hc: HippocampusProtocol,
        settings: Settings,
        screen: Pulled | None = None,
        skills: Callable[[], Procedures] = Procedures,
        *,
        pass_over: Callable[[StoreError], object] | None = None,
    ) -> None:
        """Read from both stores, under the budgets of ``settings``, what ``screen`` lets pass.

        The ``skills`` that are told of are asked for each time. What cannot be read is left out,
        and ``pass_over`` told; without it, that is an error.
        """
        self._pass_over = pass_over
        self._screen = screen
        self._skills = skills
        self._global = global_hc
        self._project = project_hc
        self.budgets = {**settings.budgets, "history": settings.episodes.history_tokens}
        self._memory = Memory()

    def context(
        self,
        message: str,
        earlier: Sequence[EarlierSession] = (),
        identity: Identity | None = None,
        *,
        scratchpad: bool = True,
    ) -> MemoryContext:
        """Return what a model is shown.

        Args:
            message: What it is ranked by.
            earlier: The sessions that are told of.
            identity: Who the assistant and the user are; as memory says now unless given.
            scratchpad: Whether that includes what :meth:`scratchpad` says.
        """
        memory = self.gathered(identity or self.identity(), earlier, self._skills())
        if not scratchpad:
            memory = self._without_scratchpad(memory)
        if memory != self._memory:
            self._memory = memory
        return build(self._memory, message, today(), self.budgets, self.overrides())

    def gathered(
        self,
        who: Identity,
        earlier: Sequence[EarlierSession] = (),
        skills: Procedures | None = None,
    ) -> Memory:
        """Return everything that a model may be shown, as the stores hold it now.

        Args:
            who: Who the assistant and the user are.
            earlier: The sessions that are told of.
            skills: The skills that are told of.
        """
        return Memory(
            soul=who.soul,
            profile=who.profile,
            global_rules=self._shown(self._global, self._global.recall_rules),
            project_rules=self._shown(self._project, self._project.recall_rules),
            global_lessons=self._shown(self._global, self._global.recall_lessons),
            project_lessons=self._shown(self._project, self._project.recall_lessons),
            skills=skills or Procedures(),
            earlier=earlier,
        )

    def identity(self) -> Identity:
        """Return who the assistant and the user are, and from which files that is.

        Raises:
            StoreError: If one cannot be read.
        """
        step = self._read(self._last_step, "")
        soul, page = self._soul()
        facts = self._shown(self._global, self._global.recall_identity)
        told = self._told_beside(facts)
        return Identity(soul, (*facts, *told), (page, self._profile()), step)

    def standing(self, frozen: Identity, notice: Callable[[], object]) -> Identity:
        """Return ``frozen`` without what a person took out since.

        Args:
            frozen: What a session was told.
            notice: Takes in what was changed by hand.

        Raises:
            StoreError: If memory cannot be read.
        """
        # What cannot be read now was not taken out.
        now = self._read(partial(self._soul_now, frozen.pages[0]), frozen.soul)
        # Imported here: it compares and redacts, which the start of a session does not.
        from engramdown.cortex.frozen import left, taken_out

        soul = left(frozen.soul, now) if frozen.soul else ""
        facts_now = self._read(self._global.recall_identity, [*frozen.profile])
        here = {entry.id for entry in facts_now}
        # What stands beside a scope is in no journal: what is not there any more was taken out.
        beside = {entry.id for entry in self._told_beside(())}
        lost = {each.id for each in frozen.profile if _is_beside(each)} - beside
        frozen = frozen._replace(profile=tuple(e for e in frozen.profile if e.id not in lost))
        here |= {entry.id for entry in frozen.profile if _is_beside(entry)}
        gone = [entry for entry in frozen.profile if entry.id not in here]
        if not gone:
            return frozen._replace(soul=soul)
        notice()
        # Where somebody else writes, a deletion is not in the journal yet: it counts as it stands.
        profile = self._global.files if isinstance(self._global, Hippocampus) else None
        is_told = profile is None or profile.is_noticed(PROFILE)
        out = taken_out(gone, self._steps_after(frozen.step) if is_told else ())
        facts = tuple(entry for entry in frozen.profile if entry.id not in out)
        return frozen._replace(soul=soul, profile=facts)

    def scratchpad(self) -> str:
        """Return what memory says about scratchpads."""
        section = self._scratchpad()
        return "" if section is None else section.text

    def _scratchpad(self) -> Section | None:
        wisdom = [
            *self._shown(self._global, self._global.recall_scratchpad_wisdom),
            *self._shown(self._project, self._project.recall_scratchpad_wisdom),
        ]
        budget = {**BUDGETS, **self.budgets}["scratchpad"]
        return scratchpad_section(wisdom, today(), budget, self.overrides())

    def _without_scratchpad(self, memory: Memory) -> Memory:
        """Return ``memory`` without what stands in the description of a scratchpad."""
        section = self._scratchpad()
        if section is None or not section.shown:
            return memory
        told = {(each.scope, each.id, each.kind) for each in section.shown}

        def rest(entries: Sequence[Entry]) -> list[Entry]:
            return [each for each in entries if (each.scope, each.id, each.kind) not in told]

        return replace(
            memory,
            global_rules=rest(memory.global_rules),
            project_rules=rest(memory.project_rules),
            global_lessons=rest(memory.global_lessons),
            project_lessons=rest(memory.project_lessons),
        )

    def _read(self, read: Callable[[], T], otherwise: T) -> T:
        """Return what can be read, or something else where it cannot."""
        try:
            return read()
        except StoreError as error:
            if self._pass_over is None:
                raise
            self._pass_over(error)
            return otherwise

    def _spellings(self, store: Hippocampus, name: str) -> list[Path]:
        return self._read(partial(store.files.spellings, name), [])

    def _shown(self, store: HippocampusProtocol, recall: Callable[[], list[Entry]]) -> list[Entry]:
        nothing: list[Entry] = []
        entries = self._read(recall, nothing)
        if self._screen is None:
            return entries
        # Where nobody can say what git brought, none of a scope is loaded, and all of the other.
        return self._read(partial(self._screen.shown, store, entries), nothing)

    def _page(self, store: Hippocampus, name: str, text: str) -> str:
        if self._screen is None:
            return text
        return self._read(partial(self._screen.page, store, name, text), "")

    def _files(self) -> Sequence[Hippocampus]:
        both = (self._global, self._project)
        return [store for store in both if isinstance(store, Hippocampus)]

    def _soul(self) -> tuple[str, Page]:
        """Return what a model is shown of who the assistant is, and the file that is used."""
        stores = [*reversed(self._files())]
        if not stores:
            return "", Page("soul", "global")
        found = [each for store in stores for each in self._souls(store)]
        used = next((each for each in found if each.shown.strip()), None)
        aside = [Aside(each.path, each.why or _why_not(each.text, each.shown)) for each in found]
        aside += [
            Aside(path, "spelling")
            for store in stores
            for path in self._spellings(store, kinds.SOUL)[1:]
        ]
        if used is None:
            page = self._page_of("soul", _home(stores), kinds.SOUL)
        else:
            page = Page("soul", used.store.scope, used.path, is_there=True, text=used.text)
        rest = tuple(each for each in aside if each.path != page.path)
        return used.shown if used is not None else "", page._replace(aside=rest)

    def _souls(self, store: Hippocampus) -> Iterator[_Candidate]:
        """Yield the pages of a scope that may tell who the assistant is, the first choice first."""
        for path in self._spellings(store, kinds.SOUL)[:1]:
            text = self._read(store.soul, "")
            yield _Candidate(store, path, text, self._page(store, SOUL, text))
        yield from self._beside(store, kinds.SOUL)

    def _beside(self, store: Hippocampus, name: str) -> Iterator[_Candidate]:
        """Yield the page that other tools keep beside a scope, if there is one."""
        path = store.files.beside(name)
        if path is None:
            return
        try:
            text = store.files.text_beside(name)
        except StoreError:  # It is not ours to complain of: who asks which file is used is told.
            yield _Candidate(store, path, "", "", "unreadable")
        else:
            shown = self._page(store, f"{snapshot.AGENTS}/{name}", text)
            yield _Candidate(store, path, text, shown)

    def _told_beside(self, known: Sequence[Entry]) -> list[Entry]:
        """Return the facts about the user that stand beside the scopes; those of ``known`` win."""
        found: list[Entry] = []
        keys = {fact_key(entry.text) for entry in known} - {""}
        words = {entry.fold for entry in known}
        for store in reversed(self._files()):
            for page in self._beside(store, PROFILE):
                for placed in parse(page.shown).placed():
                    entry = _fact_beside(placed, store.scope, page.path)
                    key = fact_key(entry.text)
                    if entry.fold not in words and key not in keys:
                        found.append(entry)
                        words.add(entry.fold)
                        keys |= {key} - {""}
        return found

    def _soul_now(self, page: Page) -> str:
        """Return what the page that a session was told of says now."""
        for store in self._files():
            if store.scope == page.scope:
                # A file beside the scope may have gone since.
                is_beside = page.path is not None and page.path.parent.name == snapshot.AGENTS
                texts = (each.text for each in self._beside(store, kinds.SOUL))
                return next(texts, "") if is_beside else store.soul()
        return ""

    def _profile(self) -> Page:
        """Return the file that tells who the user is."""
        if not isinstance(self._global, Hippocampus):
            return Page("profile", "global")
        page = self._page_of("profile", self._global, PROFILE)
        aside = [Aside(path, "spelling") for path in self._spellings(self._global, PROFILE)[1:]]
        for store in self._files():
            if store is not self._global:
                aside += [Aside(path, "scope") for path in self._spellings(store, PROFILE)]
        beside = [
            each for store in reversed(self._files()) for each in self._beside(store, PROFILE)
        ]
        also = tuple(each.path for each in beside if each.shown.strip())
        aside += [
            Aside(each.path, each.why or _why_not(each.text, each.shown))
            for each in beside
            if each.path not in also
        ]
        return page._replace(aside=tuple(aside), also=also)

    def _page_of(self, name: Literal["soul", "profile"], store: Hippocampus, file: str) -> Page:
        path = self._read(partial(store.files.place, file), store.memory / file)
        is_there = path in self._spellings(store, file)
        text = self._read(partial(store.files.text, f"{store.memory.name}/{file}"), "")
        return Page(name, store.scope, path, is_there, text)

    def _last_step(self) -> str:
        if not isinstance(self._global, Hippocampus):
            return ""
        history = self._global.files.history
        with named_errors(history.path, "read"):
            history.refresh()
            return history.last

    def _steps_after(self, step: str) -> list[Step]:
        if not isinstance(self._global, Hippocampus):
            return []
        history = self._global.files.history
        with named_errors(history.path, "read"):
            history.refresh()
            return history.steps_after(step)

    def overrides(self) -> dict[str, str]:
        """Return the scopes' own templates; the project's win over the global ones."""
        texts = (
            (name, self._page(store, f"{FOLDER}/{name}", words))
            for store in self._files()
            for name in TEMPLATES
            for words in (self._read(partial(store.template, name), ""),)
        )
        return {name: words for name, words in texts if words}


def _is_beside(entry: Entry) -> bool:
    return entry.spelled.startswith(f"{snapshot.AGENTS}/")


def _fact_beside(placed: Placed, scope: Scope, path: Path) -> Entry:
    """Return a fact of such a page: only its words count, whatever it says of itself."""
    text = placed.block.text
    return Entry(
        id=address(text),
        text=text,
        kind="profile",
        scope=scope,
        file=PROFILE,
        line=placed.line,
        heading=placed.heading,
        spelled=f"{snapshot.AGENTS}/{path.name}",
    )


def _home(stores: Sequence[Hippocampus]) -> Hippocampus:
    """Return where a page is to be created: in the project, if one has begun."""
    return next((store for store in stores if store.root.is_dir()), stores[-1])


def _why_not(text: str, shown: str) -> Why:
    """Return why a page is not used, if it is not."""
    if not text.strip():
        return "empty"
    return "scope" if shown else "waits"
