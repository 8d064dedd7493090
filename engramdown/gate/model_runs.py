"""Gives jobs the language model of two scopes, within limits.

Everything that one run asks stays within one set of limits. Every call is recorded in the ledger in
the folder of the global scope, since the person pays for it. Where no model is set, nothing is
loaded that could ask one.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from engramdown.engram import Scope
from engramdown.errors import SettingsError
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
            model: A model, the name of one, or ``None`` for the configured one.
            settings: The configured model, and the limits.
            folder: The folder of the ledger; ``None`` keeps it in memory.

        Raises:
            SettingsError: If ``model`` is not a model.
        """
        from engramdown.models.ledger import Ledger, Limits
        from engramdown.models.port import Run

        self._given = model, settings, folder
        self._model = _model(model, settings)
        limits = Limits(*(getattr(settings, key) for key in Limits._fields))
        self.run = Run(Ledger(folder), limits)

    @classmethod
    def begin(cls, scopes: Scopes) -> Asking:
        """Begin a run over ``scopes``."""
        return cls(scopes.model, scopes.settings.consolidation, scopes.shared_root)

    def within(self, timeout: float) -> Asking:
        """Return the same run with a time limit of ``timeout`` seconds for a call."""
        model, settings, folder = self._given
        hurried = Asking(model, settings._replace(timeout=min(timeout, settings.timeout)), folder)
        hurried.run = self.run
        return hurried

    def of(self, job: str) -> Asker | None:
        """Return the model as a job asks it, or ``None`` without a model."""
        from engramdown.models.port import Asker

        return None if self._model is None else Asker(self._model, job, self.run)


def ledger_of(scopes: Scopes) -> Ledger:
    """Return the ledger of model calls."""
    from engramdown.models.ledger import Ledger

    return Ledger(scopes.shared_root)


def prompts_for(scopes: Scopes, job: str, scope: Scope = "project") -> dict[str, str]:
    """Return the scopes' own prompt for a job, if any; the project's wins.

    Args:
        scopes: The scopes.
        job: The job.
        scope: The scope of the memories in question. Questions about all projects, or about the
            user, do not use a project's prompt, which may be somebody else's.

    Raises:
        StoreError: If one cannot be read.
    """
    from engramdown.consolidation.prompts import FOLDER

    name = f"{job}.j2"
    everywhere = scope == "global" or job in _OF_THE_USER
    stores = [it for it in scopes.stores if it.scope == "global" or not everywhere]
    texts = [(store, store.template(name, FOLDER)) for store in stores]
    pages = (scopes.usable_page(store, f"{FOLDER}/{name}", text) for store, text in texts)
    used = [page for page in pages if page]
    return {name: used[-1]} if used else {}


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
