"""Reads from the stores what the context is built of, and the identity files.

An unchanged memory gives unchanged bytes and is ranked with the index that was built for it before.
For who the assistant is, the project comes before the global scope.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeVar

from engramdown import kinds
from engramdown.context import sections
from engramdown.context.sections import Last, Memory, MemoryContext, Procedures, Section
from engramdown.engram import Scope, fact_key
from engramdown.errors import StoreError
from engramdown.hippocampus import snapshot
from engramdown.hippocampus.entry import Entry, address
from engramdown.hippocampus.store import Hippocampus, HippocampusProtocol
from engramdown.kinds import PROFILE
from engramdown.markdown import is_address, parse

if TYPE_CHECKING:
    from engramdown.episodes.earlier_sessions import EarlierSession
    from engramdown.gate.scopes import Scopes

# ---- what remains of the identity that a session was shown, when memory has changed since ----

# What a person says no to; what gave way to something else was changed.
_TAKEN_OUT: Final = frozenset({"deleted", "forgotten"})
# To compare pages takes the square of their lines: of larger ones nothing is taken out.
_MOST_LINES: Final = 1_000


def left(before: str, now: str) -> str:
    r"""Return a page without the lines that were taken out since.

    A line that was changed is left as it was; one that was added is not among them.

    >>> left("Be kind.\n\nBe brief.\n", "Be very kind.\n\nSing.\n\n")
    'Be kind.\n\nBe brief.\n'
    >>> left("Be kind.\nBe brief.\nNever swear.\n", "Be kind.\nNever swear.\nSing.\n")
    'Be kind.\nNever swear.\n'
    """
    from difflib import SequenceMatcher

    if before == now or not now.strip():
        return before if before == now else ""
    old, new = before.split("\n"), now.split("\n")
    if max(len(old), len(new)) > _MOST_LINES:
        return before
    gone: set[int] = set()
    for op, start, end, _, _ in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        # What was moved has not been taken out.
        gone |= {at for at in range(start, end) if op == "delete" and old[at] not in new}
    return "\n".join(line for at, line in enumerate(old) if at not in gone)


# ---- who the assistant is and whom it serves, and from which files that is ----
#
# The path is that of the file in use, or else of the one to create. Every other file that could be
# meant is listed with the reason why it is not used.

Why = Literal["spelling", "scope", "empty", "waits", "unreadable"]


class Aside(NamedTuple):
    """A file that is not used.

    Attributes:
        path: The file.
        why: ``spelling``: another file of that name is; ``scope``: the one of the other scope is;
            ``empty``; ``waits``: git brought it, and nobody approved it yet; ``unreadable``: it
            cannot be read, or is a link that leaves the project.
    """

    path: Path
    why: Why


class Page(NamedTuple):
    """Which file says who somebody is.

    Attributes:
        name: ``soul``: who the assistant is; ``profile``: who the user is.
        scope: The scope that it is in.
        path: The file in use, or else the one to create; ``None`` if the store has no files.
        is_there: Whether it is there.
        text: What it says, as it is on the disk.
        aside: The files that are not used.
        also: Other files in use: a ``.agents/USER.md`` describes the user, too.
    """

    name: Literal["soul", "profile"]
    scope: Scope
    path: Path | None = None
    is_there: bool = False
    text: str = ""
    aside: tuple[Aside, ...] = ()
    also: tuple[Path, ...] = ()


class Identity(NamedTuple):
    """Who the assistant is and whom it serves.

    Attributes:
        soul: The page that says who the assistant is, as far as a model may see it, or ``""``.
        profile: The facts about the user that a model may see, in file order.
        pages: The files that they are from: the soul, then the profile.
    """

    soul: str = ""
    profile: tuple[Entry, ...] = ()
    pages: tuple[Page, Page] = (Page("soul", "global"), Page("profile", "global"))

    @property
    def soul_path(self) -> Path | None:
        """The file that says who the assistant is, or ``None``."""
        return self.pages[0].path if self.pages[0].is_there else None

    @property
    def profile_path(self) -> Path | None:
        """The file that says who the user is, or ``None``."""
        return self.pages[1].path if self.pages[1].is_there else None


T = TypeVar("T")

# The sections that hold advice on scratchpads.
_WISDOM: Final = ("global_rules", "project_rules", "global_lessons", "project_lessons")

# The page that says who the assistant is.
SOUL: Final = f"memory/{kinds.SOUL}"
# Where a scope's own templates are.
FOLDER: Final = "templates"


class _Candidate(NamedTuple):
    """A page that may be used: its text, what a model may see of it, and why it is not used."""

    store: Hippocampus
    text: str
    shown: str
    aside: Aside


class Recollection:
    """The memory of two scopes, as a model is shown it; what cannot be read is left out.

    Attributes:
        budgets: What the sections may cost, in tokens, where it is not the default.
    """

    def __init__(self, scopes: Scopes, skills: Callable[[], Procedures]) -> None:
        """Read memory of ``scopes``; ``skills`` returns the skills to list, each time."""
        self._scopes, self._skills = scopes, skills
        self.global_hc, self.project_hc = scopes.global_hc, scopes.project_hc
        history = scopes.settings.episodes.history_tokens
        self.budgets = {**scopes.settings.budgets, "history": history}
        self._memory = Memory()

    def context(
        self,
        message: str,
        earlier: Sequence[EarlierSession] = (),
        identity: Identity | None = None,
        *,
        scratchpad: bool = True,
        last: Last = lambda *_: None,
    ) -> MemoryContext:
        """Return what a model is shown.

        Args:
            message: What it is ranked by.
            earlier: The earlier sessions to show.
            identity: Who the assistant and the user are; as memory says now unless given.
            scratchpad: Whether that includes what :meth:`scratchpad` says.
            last: Makes the last section.
        """
        memory = self.gathered(identity or self.identity(), earlier, self._skills())
        day, words = self._scopes.day(), self.overrides()
        section = None if scratchpad else self._scratchpad(words)
        if section is not None and section.shown:
            known = set(map(_key, section.shown))
            left: dict[str, Any] = {
                name: [each for each in getattr(memory, name) if _key(each) not in known]
                for name in _WISDOM
            }
            memory = replace(memory, **left)
        if memory != self._memory:
            self._memory = memory
        changed = self._scopes.citations().has_changed
        return sections.build(
            self._memory, message, day, self.budgets, words, changed=changed, last=last
        )

    def gathered(
        self,
        who: Identity,
        earlier: Sequence[EarlierSession] = (),
        skills: Procedures | None = None,
    ) -> Memory:
        """Return everything that a model may be shown, as the stores hold it now.

        Args:
            who: Who the assistant and the user are.
            earlier: The earlier sessions to show.
            skills: The skills that are listed.
        """
        return Memory(
            soul=who.soul,
            profile=who.profile,
            global_rules=self._shown(self.global_hc, self.global_hc.recall_rules),
            project_rules=self._shown(self.project_hc, self.project_hc.recall_rules),
            global_lessons=self._shown(self.global_hc, self.global_hc.recall_lessons),
            project_lessons=self._shown(self.project_hc, self.project_hc.recall_lessons),
            skills=skills or Procedures(),
            earlier=earlier,
        )

    def scratchpad(self) -> str:
        """Return what memory says about scratchpads."""
        section = self._scratchpad(self.overrides())
        return "" if section is None else section.text

    def _scratchpad(self, words: Mapping[str, str]) -> Section | None:
        wisdom = [
            *self._shown(self.global_hc, self.global_hc.recall_scratchpad_wisdom),
            *self._shown(self.project_hc, self.project_hc.recall_scratchpad_wisdom),
        ]
        budget = {**sections.BUDGETS, **self.budgets}["scratchpad"]
        changed = self._scopes.citations().has_changed
        return sections.scratchpad_section(
            wisdom, self._scopes.day(), budget, words, changed=changed
        )

    def overrides(self) -> dict[str, str]:
        """Return the scopes' own templates; the project's win over the global ones."""
        texts = (
            (name, self._page(store, f"{FOLDER}/{name}", words))
            for store in self._scopes.stores
            for name in sections.TEMPLATES
            for words in (self._read(partial(store.template, name), ""),)
        )
        return {name: words for name, words in texts if words}

    # ---- who is who ----

    def identity(self) -> Identity:
        """Return who the assistant and the user are, and from which files that is.

        Raises:
            StoreError: If one cannot be read.
        """
        soul, page = self._soul()
        facts = self._shown(self.global_hc, self.global_hc.recall_identity)
        beside = self._facts_beside(facts)
        return Identity(soul, (*facts, *beside), (page, self._profile()))

    def standing(self, frozen: Identity) -> Identity:
        """Return ``frozen`` without what a person took out since.

        Args:
            frozen: The identity that a session was shown.

        Raises:
            StoreError: If memory cannot be read.
        """
        # What cannot be read now was not taken out.
        now = self._read(partial(self._soul_now, frozen.pages[0]), frozen.soul)
        soul = left(frozen.soul, now) if frozen.soul else ""
        here = self._read(self.global_hc.recall_identity, [*frozen.profile])
        # Facts beside a scope are in no journal: one that is gone was taken out.
        ids = {each.id for each in (*here, *self._facts_beside(()))}
        gone = [each for each in frozen.profile if each.id not in ids]
        if gone:
            before = {each.id for each in frozen.profile}
            ids |= self._changed(gone, [each.text for each in here if each.id not in before])
        profile = tuple(each for each in frozen.profile if each.id in ids)
        return frozen._replace(soul=soul, profile=profile)

    def _changed(self, gone: Iterable[Entry], new: Sequence[str]) -> set[str]:
        """Return the ids of those facts that gave way to ``new`` ones, and were not taken out.

        Of a fact that we wrote the archive says so. A line of a person's, which has no id, gave way
        to one with its key, or in nearly the same words.
        """
        from difflib import get_close_matches

        keys = {fact_key(text) for text in new} - {""}
        retired = (each for each in self._scopes.archived() if each.entry.scope == "global")
        # Of a fact that was retired more than once, the last time counts.
        reasons = {each.entry.id: each.reason for each in retired}
        changed = {name for name, reason in reasons.items() if reason not in _TAKEN_OUT}
        for each in gone:
            is_by_hand = is_address(each.id) and not _is_beside(each)
            is_like = fact_key(each.text) in keys or get_close_matches(each.text, new, n=1)
            if is_by_hand and is_like and not self._scopes.was_erased(each.text):
                changed.add(each.id)
        return changed

    def _soul(self) -> tuple[str, Page]:
        """Return what a model is shown of who the assistant is, and the file that is used."""
        stores = self._scopes.stores[::-1]
        if not stores:
            return "", Page("soul", "global")
        found: list[_Candidate] = []
        spellings: list[Aside] = []
        for store in stores:
            paths = self._spellings(store, kinds.SOUL)
            spellings += [Aside(path, "spelling") for path in paths[1:]]
            for path in paths[:1]:
                text = self._read(store.soul, "")
                found.append(_candidate(store, path, text, self._page(store, SOUL, text)))
            found += self._beside(store, kinds.SOUL)
        used = next((each for each in found if each.shown.strip()), None)
        if used is None:
            # It is to be created in the project, if one has begun.
            home = next((store for store in stores if store.root.is_dir()), stores[-1])
            page = self._page_of("soul", home, kinds.SOUL)
        else:
            page = Page("soul", used.store.scope, used.aside.path, is_there=True, text=used.text)
        aside = [*(each.aside for each in found), *spellings]
        page = page._replace(aside=tuple(each for each in aside if each.path != page.path))
        return used.shown if used is not None else "", page

    def _soul_now(self, page: Page) -> str:
        """Return the present text of the page that a session was shown."""
        for store in self._scopes.stores:
            if store.scope == page.scope:
                # A file beside the scope may have gone since.
                is_beside = page.path is not None and page.path.parent.name == snapshot.AGENTS
                texts = (each.text for each in self._beside(store, kinds.SOUL))
                return next(texts, "") if is_beside else store.soul()
        return ""

    def _profile(self) -> Page:
        """Return the file that says who the user is."""
        if not isinstance(self.global_hc, Hippocampus):
            return Page("profile", "global")
        page = self._page_of("profile", self.global_hc, PROFILE)
        aside = [Aside(path, "spelling") for path in self._spellings(self.global_hc, PROFILE)[1:]]
        also: list[Path] = []
        for store in self._scopes.stores:
            if store is not self.global_hc:
                aside += [Aside(path, "scope") for path in self._spellings(store, PROFILE)]
        for store in reversed(self._scopes.stores):
            for each in self._beside(store, PROFILE):
                if each.shown.strip():
                    also.append(each.aside.path)
                else:
                    aside.append(each.aside)
        return page._replace(aside=tuple(aside), also=tuple(also))

    def _page_of(self, name: Literal["soul", "profile"], store: Hippocampus, file: str) -> Page:
        path = self._read(partial(store.files.place, file), store.memory / file)
        is_there = path in self._spellings(store, file)
        text = self._read(partial(store.files.text, f"{store.memory.name}/{file}"), "")
        return Page(name, store.scope, path, is_there, text)

    def _beside(self, store: Hippocampus, name: str) -> Iterator[_Candidate]:
        """Yield the page that other tools keep beside a scope, if there is one."""
        path = store.files.beside(name)
        if path is None:
            return
        try:
            text = store.files.text(f"{snapshot.AGENTS}/{name}")
        except StoreError:  # Not ours to complain of; the list of files says why it is unused.
            yield _Candidate(store, "", "", Aside(path, "unreadable"))
        else:
            shown = self._page(store, f"{snapshot.AGENTS}/{name}", text)
            yield _candidate(store, path, text, shown)

    def _facts_beside(self, known: Sequence[Entry]) -> list[Entry]:
        """Return the facts about the user in files beside the scopes; those of ``known`` win."""
        found: list[Entry] = []
        keys = {fact_key(entry.text) for entry in known} - {""}
        words = {entry.fold for entry in known}
        pages = [
            (store.scope, each)
            for store in reversed(self._scopes.stores)
            for each in self._beside(store, PROFILE)
        ]
        for scope, page in pages:
            for placed in parse(page.shown).placed():
                text = placed.block.text
                # Only its words count, whatever it says of itself.
                entry = Entry(
                    id=address(text),
                    text=text,
                    kind="profile",
                    scope=scope,
                    file=PROFILE,
                    line=placed.line,
                    heading=placed.heading,
                    spelled=f"{snapshot.AGENTS}/{page.aside.path.name}",
                )
                key = fact_key(text)
                if entry.fold not in words and key not in keys:
                    found.append(entry)
                    words.add(entry.fold)
                    keys |= {key} - {""}
        return found

    # ---- reading ----

    def _read(self, read: Callable[[], T], otherwise: T) -> T:
        """Return what can be read, or something else where it cannot."""
        try:
            return read()
        except StoreError as error:
            self._scopes.pass_over(error)
            return otherwise

    def _spellings(self, store: Hippocampus, name: str) -> list[Path]:
        return self._scopes.if_readable(partial(store.files.spellings, name))

    def _shown(self, store: HippocampusProtocol, recall: Callable[[], list[Entry]]) -> list[Entry]:
        entries = self._scopes.if_readable(recall)
        if not self._scopes.reviews:
            return entries
        # Where nobody can say what git brought, none of a scope is loaded, and all of the other.
        return self._scopes.if_readable(lambda: self._scopes.pulled.shown(store, entries))

    def _page(self, store: Hippocampus, name: str, text: str) -> str:
        return self._read(partial(self._scopes.usable_page, store, name, text), "")


def _key(entry: Entry) -> tuple[str, str, str]:
    return entry.scope, entry.id, entry.kind


def _is_beside(entry: Entry) -> bool:
    return entry.spelled.startswith(f"{snapshot.AGENTS}/")


def _candidate(store: Hippocampus, path: Path, text: str, shown: str) -> _Candidate:
    why: Why = "empty" if not text.strip() else "scope" if shown else "waits"
    return _Candidate(store, text, shown, Aside(path, why))
