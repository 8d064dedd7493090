"""Gives jobs the language model of two scopes, within limits.

Everything that one run asks stays within one set of limits. Every call is recorded in the ledger in
the folder of the global scope, since the person pays for it. Where no model is set, nothing is
loaded that could ask one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from engramdown.engram import Scope
from engramdown.errors import SettingsError
from engramdown.hippocampus.store import Hippocampus
from engramdown.settings import ConsolidationSettings

if TYPE_CHECKING:
    from engramdown.gate.scopes import Scopes
    from engramdown.models.ledger import Ledger
    from engramdown.models.port import Asker, LanguageModel

_OF_THE_USER: Final = frozenset({"identity", "facts"})


class Asking:
    """One run of jobs that may ask a language model."""

    def __init__(self, model: object, settings: ConsolidationSettings, folder: Path | None) -> None:
        """Begin a run.

        Args:
            model: A model, the name of one, or ``None`` for the one that is set.
            settings: The model that is set, and the limits.
            folder: The folder of the ledger; ``None`` keeps it in mind.

        Raises:
            SettingsError: If ``model`` is no model.
        """
        from engramdown.models.ledger import Ledger, Limits
        from engramdown.models.port import Run

        self._told = model, settings, folder
        self._model = _model(model, settings)
        limits = Limits(*(getattr(settings, key) for key in Limits._fields))
        self.run = Run(Ledger(folder), limits)

    @classmethod
    def begin(cls, scopes: Scopes) -> Asking:
        """Begin a run of a scopes."""
        return cls(scopes.model, scopes.settings.consolidation, _ledger_folder(scopes))

    def within(self, timeout: float) -> Asking:
        """Return the same run, in which a call takes so many seconds at most."""
        model, settings, folder = self._told
        hurried = Asking(model, settings._replace(timeout=min(timeout, settings.timeout)), folder)
        hurried.run = self.run
        return hurried

    def of(self, job: str) -> Asker | None:
        """Return what a job asks, or ``None`` if there is no model."""
        from engramdown.models.port import Asker

        return None if self._model is None else Asker(self._model, job, self.run)


def ledger_of(scopes: Scopes) -> Ledger:
    """Return the ledger in which the calls of a cortex stand."""
    from engramdown.models.ledger import Ledger

    return Ledger(_ledger_folder(scopes))


def prompts_for(scopes: Scopes, job: str, scope: Scope = "project") -> dict[str, str]:
    """Return the prompt that the scopes of a cortex have of their own, as :func:`prompts_of` does.

    Raises:
        StoreError: If one cannot be read.
    """
    return prompts_of(scopes.stores, job, scope, scopes.usable_page)


def prompts_of(
    stores: Sequence[Hippocampus],
    job: str,
    scope: Scope = "project",
    page: Callable[[Hippocampus, str, str], str] = lambda _store, _name, text: text,
) -> dict[str, str]:
    """Return the prompt that scopes have of their own for a job; the project's wins.

    Args:
        stores: The stores of the scopes, the project's last.
        job: The job.
        scope: Whose memory it is about. What is about all projects, or about the user, is not
            asked in the words of one project, which may be somebody else's.
        page: Is given a store, the name of a file and what it says, and returns what is used.

    Raises:
        StoreError: If one cannot be read.
    """
    from engramdown.consolidation.prompts import FOLDER

    name = f"{job}.j2"
    everywhere = scope == "global" or job in _OF_THE_USER
    asks = [store for store in stores if store.scope == "global" or not everywhere]
    said = ((store, store.template(name, FOLDER)) for store in asks)
    texts = [used for store, text in said if (used := page(store, f"{FOLDER}/{name}", text))]
    return {name: texts[-1]} if texts else {}


def _ledger_folder(scopes: Scopes) -> Path | None:
    return scopes.shared_root


def _model(model: object, settings: ConsolidationSettings) -> LanguageModel | None:
    from engramdown.models.port import LanguageModel

    chosen = settings.model if model is None else model
    if chosen == "":
        return None
    if isinstance(chosen, LanguageModel):
        return chosen
    if not isinstance(chosen, str):
        reason = f"{type(chosen).__name__} has no name and no ask(schema, system, user)"
        raise SettingsError("argument", "model", reason)
    from engramdown.models.provider import InstructorModel

    return InstructorModel(
        chosen,
        # Another model than the one that is set is not sent to that one's server.
        settings.base_url if chosen == settings.model else None,
        timeout=settings.timeout,
        retries=settings.retries,
        max_tokens=settings.max_tokens,
    )
