"""What the stores hold, on its way to a model.

Promises: an unchanged memory gives unchanged bytes, and is ranked with the index that was built
for it before; a project says who the assistant is before the global scope does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, Literal

from engramdown.clock import today
from engramdown.cortex.context import BUDGETS, Memory, MemoryContext, build, scratchpad_context
from engramdown.cortex.identity import Aside, Identity, Page, Why
from engramdown.cortex.procedures import Procedures
from engramdown.cortex.templates import TEMPLATES
from engramdown.hippocampus import spelling
from engramdown.hippocampus.entry import Entry
from engramdown.hippocampus.filing import PROFILE
from engramdown.hippocampus.protocol import HippocampusProtocol
from engramdown.hippocampus.steps import Step
from engramdown.hippocampus.store import Hippocampus
from engramdown.naming import named_errors
from engramdown.settings import Settings

if TYPE_CHECKING:
    from engramdown.cortex.pulled import Pulled
    from engramdown.episodes.cards.past import Past

__all__ = ["FOLDER", "SOUL", "Recollection"]

SOUL: Final = f"memory/{spelling.SOUL}"
"""The page that says who the assistant is."""
FOLDER: Final = "templates"
"""Where a scope's own templates are."""


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
    ) -> None:
        """Read from both stores, under the budgets of ``settings``, what ``screen`` lets pass.

        The ``skills`` that are told of are asked for each time.
        """
        self._screen = screen
        self._skills = skills
        self._global = global_hc
        self._project = project_hc
        self.budgets = {**settings.budgets, "history": settings.episodes.history_tokens}
        self._memory = Memory()

    def context(
        self, message: str, earlier: Sequence[Past] = (), identity: Identity | None = None
    ) -> MemoryContext:
        """Return what a model is shown.

        Args:
            message: What it is ranked by.
            earlier: The sessions that are told of.
            identity: Who the assistant and the user are; as memory says now unless given.
        """
        memory = self.gathered(identity or self.identity(), earlier, self._skills())
        if memory != self._memory:
            self._memory = memory
        return build(self._memory, message, today(), self.budgets, self.overrides())

    def gathered(
        self, who: Identity, earlier: Sequence[Past] = (), skills: Procedures | None = None
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
            global_rules=self._shown(self._global, self._global.recall_rules()),
            project_rules=self._shown(self._project, self._project.recall_rules()),
            global_lessons=self._shown(self._global, self._global.recall_lessons()),
            project_lessons=self._shown(self._project, self._project.recall_lessons()),
            skills=skills or Procedures(),
            earlier=earlier,
        )

    def identity(self) -> Identity:
        """Return who the assistant and the user are, and from which files that is.

        Raises:
            StoreError: If one cannot be read.
        """
        step = self._last_step()
        soul, page = self._soul()
        facts = self._shown(self._global, self._global.recall_identity())
        return Identity(soul, tuple(facts), (page, self._profile()), step)

    def standing(self, frozen: Identity, notice: Callable[[], object]) -> Identity:
        """Return ``frozen`` without what a person took out since.

        Args:
            frozen: What a session was told.
            notice: Takes in what was changed by hand.

        Raises:
            StoreError: If memory cannot be read.
        """
        scope = frozen.pages[0].scope
        now = next((store.soul() for store in self._files() if store.scope == scope), "")
        # Imported here: it compares and redacts, which the start of a session does not.
        from engramdown.cortex.frozen import left, taken_out

        soul = left(frozen.soul, now) if frozen.soul else ""
        here = {entry.id for entry in self._global.recall_identity()}
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
        wisdom = [
            *self._shown(self._global, self._global.recall_scratchpad_wisdom()),
            *self._shown(self._project, self._project.recall_scratchpad_wisdom()),
        ]
        budget = {**BUDGETS, **self.budgets}["scratchpad"]
        return scratchpad_context(wisdom, today(), budget, self.overrides())

    def _shown(self, store: HippocampusProtocol, entries: list[Entry]) -> list[Entry]:
        return entries if self._screen is None else self._screen.shown(store, entries)

    def _page(self, store: Hippocampus, name: str, text: str) -> str:
        return text if self._screen is None else self._screen.page(store, name, text)

    def _files(self) -> Sequence[Hippocampus]:
        both = (self._global, self._project)
        return [store for store in both if isinstance(store, Hippocampus)]

    def _soul(self) -> tuple[str, Page]:
        """Return what a model is shown of who the assistant is, and the file that is used."""
        stores = [*reversed(self._files())]
        shown = [self._page(store, SOUL, store.soul()) for store in stores]
        used = next((at for at, text in enumerate(shown) if text.strip()), None)
        if not stores:
            return "", Page("soul", "global")
        aside: list[Aside] = []
        for store, text in zip(stores, shown, strict=True):
            files = store.files.spellings(spelling.SOUL)
            aside += [Aside(path, _why_not(store.soul(), text)) for path in files[:1]]
            aside += [Aside(path, "spelling") for path in files[1:]]
        store = stores[used] if used is not None else _home(stores)
        page = _page_of("soul", store, spelling.SOUL)
        rest = tuple(each for each in aside if each.path != page.path)
        return shown[used] if used is not None else "", page._replace(aside=rest)

    def _profile(self) -> Page:
        """Return the file that tells who the user is."""
        if not isinstance(self._global, Hippocampus):
            return Page("profile", "global")
        page = _page_of("profile", self._global, PROFILE)
        aside = [Aside(path, "spelling") for path in self._global.files.spellings(PROFILE)[1:]]
        for store in self._files():
            if store is not self._global:
                aside += [Aside(path, "scope") for path in store.files.spellings(PROFILE)]
        return page._replace(aside=tuple(aside))

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
            (name, self._page(store, f"{FOLDER}/{name}", store.template(name)))
            for store in self._files()
            for name in TEMPLATES
        )
        return {name: words for name, words in texts if words}


def _home(stores: Sequence[Hippocampus]) -> Hippocampus:
    """Return where a page is to be created: in the project, if one has begun."""
    return next((store for store in stores if store.root.is_dir()), stores[-1])


def _page_of(name: Literal["soul", "profile"], store: Hippocampus, file: str) -> Page:
    path = store.files.place(file)
    is_there = path in store.files.spellings(file)
    text = store.files.text(f"{store.memory.name}/{file}")
    return Page(name, store.scope, path, is_there, text)


def _why_not(text: str, shown: str) -> Why:
    """Return why a page is not used, if it is not."""
    if not text.strip():
        return "empty"
    return "scope" if shown else "waits"
