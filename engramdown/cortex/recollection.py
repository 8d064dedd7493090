"""What the stores hold, on its way to a model.

Promises: an unchanged memory gives unchanged bytes, and is ranked with the index that was built
for it before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from engramdown.clock import today
from engramdown.cortex.context import BUDGETS, Memory, MemoryContext, build, scratchpad_context
from engramdown.cortex.templates import TEMPLATES
from engramdown.episodes.cards.past import Past
from engramdown.hippocampus.entry import Entry
from engramdown.hippocampus.protocol import HippocampusProtocol
from engramdown.hippocampus.store import Hippocampus
from engramdown.settings import Settings

if TYPE_CHECKING:
    from engramdown.cortex.pulled import Pulled

__all__ = ["FOLDER", "SOUL", "Recollection"]

SOUL: Final = "memory/soul.md"
"""The page that says who the assistant is."""
FOLDER: Final = "templates"
"""Where a scope's own templates are."""


class Recollection:
    """What a global and a project store hold, as a model is shown it."""

    def __init__(
        self,
        global_hc: HippocampusProtocol,
        project_hc: HippocampusProtocol,
        settings: Settings,
        screen: Pulled | None = None,
    ) -> None:
        """Read from both stores, under the budgets of ``settings``, what ``screen`` lets pass."""
        self._screen = screen
        self._global = global_hc
        self._project = project_hc
        self._budgets = {**settings.budgets, "history": settings.episodes.history_tokens}
        self._memory = Memory()

    def context(self, message: str, earlier: Sequence[Past] = ()) -> MemoryContext:
        """Return what a model is shown, ranked by ``message``, with sessions ``earlier`` told."""
        memory = Memory(
            soul=self._soul(),
            profile=self._shown(self._global, self._global.recall_identity()),
            global_rules=self._shown(self._global, self._global.recall_rules()),
            project_rules=self._shown(self._project, self._project.recall_rules()),
            global_lessons=self._shown(self._global, self._global.recall_lessons()),
            project_lessons=self._shown(self._project, self._project.recall_lessons()),
            earlier=earlier,
        )
        if memory != self._memory:
            self._memory = memory
        return build(self._memory, message, today(), self._budgets, self._overrides())

    def scratchpad(self) -> str:
        """Return what memory says about scratchpads."""
        wisdom = [
            *self._shown(self._global, self._global.recall_scratchpad_wisdom()),
            *self._shown(self._project, self._project.recall_scratchpad_wisdom()),
        ]
        budget = {**BUDGETS, **self._budgets}["scratchpad"]
        return scratchpad_context(wisdom, today(), budget, self._overrides())

    def _shown(self, store: HippocampusProtocol, entries: list[Entry]) -> list[Entry]:
        return entries if self._screen is None else self._screen.shown(store, entries)

    def _page(self, store: Hippocampus, name: str, text: str) -> str:
        return text if self._screen is None else self._screen.page(store, name, text)

    def _files(self) -> Sequence[Hippocampus]:
        both = (self._global, self._project)
        return [store for store in both if isinstance(store, Hippocampus)]

    def _soul(self) -> str:
        stores = reversed(self._files())
        souls = (self._page(store, SOUL, store.soul()) for store in stores)
        return next((soul for soul in souls if soul.strip()), "")

    def _overrides(self) -> dict[str, str]:
        """Return the scopes' own templates; the project's win over the global ones."""
        texts = (
            (name, self._page(store, f"{FOLDER}/{name}", store.template(name)))
            for store in self._files()
            for name in TEMPLATES
        )
        return {name: words for name, words in texts if words}
