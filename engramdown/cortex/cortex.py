"""The facade: one object over two scopes, with everything that a program asks of memory.

Opening it is cheap: the gate, the context, transcripts and jobs are imported when they are first
used, since a command that searches memory must start as fast as a shell prompt.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from engramdown.context.builder import ContextBuilder
from engramdown.engram import Engram, Scope
from engramdown.forks import cached_property
from engramdown.gate.scopes import Scopes
from engramdown.hippocampus.entry import Entry
from engramdown.hippocampus.store import HippocampusProtocol
from engramdown.settings import Settings
from engramdown.storage.locks import one_call

if TYPE_CHECKING:
    from engramdown.consolidation.facts import Message
    from engramdown.context.sections import MemoryContext
    from engramdown.context.skill_reader import Skillbook
    from engramdown.conversation.conversations import Conversations
    from engramdown.cortex.session import Session
    from engramdown.cortex.tools import Answer
    from engramdown.episodes.memory import EpisodicMemory
    from engramdown.gate import CompactionReceipt, Proposal, Receipt, Why
    from engramdown.gate.gate import Decision
    from engramdown.gate.review import Review
    from engramdown.journal.journal import Journal
    from engramdown.sleep.steps import SleepSummary
    from engramdown.sleep.workers import Workers


class Cortex:
    """Two stores and the gate before them.

    Attributes:
        scopes: The stores, the settings, and how they are read and written.
        context: What a model is shown of them.
    """

    def __init__(
        self,
        global_hc: HippocampusProtocol,
        project_hc: HippocampusProtocol,
        mode: str = "autopilot",
        model: object = None,
        *,
        settings: Settings | None = None,
    ) -> None:
        """Coordinate two stores.

        Args:
            global_hc: Any store that satisfies :class:`engramdown.HippocampusProtocol`.
            project_hc: Another one.
            mode: ``autopilot``, ``copilot`` or ``off``.
            model: A language model, or its name, for the jobs that may ask one; nothing needs it.
            settings: Budgets; the defaults unless given.

        Raises:
            InvalidEngramError: If the mode is none of the three.
        """
        self.scopes = Scopes(global_hc, project_hc, mode, model, settings=settings)
        self.context = ContextBuilder(self.scopes)

    @classmethod
    def _over(cls, scopes: Scopes) -> Self:
        stores = scopes.global_hc, scopes.project_hc
        cortex = cls(*stores, scopes.mode, scopes.model, settings=scopes.settings)
        cortex.scopes, cortex.context = scopes, ContextBuilder(scopes)
        return cortex

    @classmethod
    def open(
        cls,
        project: Path | str | None = None,
        home: Path | str | None = None,
        mode: str | None = None,
        model: object = None,
        *,
        settings: Settings | None = None,
    ) -> Self:
        """Open the scopes that are found from the working directory.

        Args:
            project: A project's folder, or its ``.engramdown``; by default the nearest one above
                the working directory. Where there is none, one begins there at the first write,
                except in the home folder, where the global scope is: it cannot be a project.
            home: The folder of the global scope; by default ``ENGRAMDOWN_HOME`` or
                ``~/.engramdown``.
            mode: ``autopilot``, ``copilot`` or ``off``; by default what is configured.
            model: See :class:`Cortex`.
            settings: What holds; by default what the ``config.toml`` of both scopes says.

        Raises:
            SettingsError: If a setting is wrong, or a folder cannot be that of a project.
        """
        return cls._over(Scopes.open(project, home, mode, model, settings=settings))

    @property
    def mode(self) -> str:
        """What is written without asking: ``autopilot``, ``copilot`` or ``off``; can be set."""
        return self.scopes.mode

    @mode.setter
    def mode(self, mode: str) -> None:
        self.scopes.mode = mode

    def entries(self) -> list[Entry]:
        """Return every memory, global ones first, in file order; also what waits for approval.

        What cannot be read hides nothing else: ``scopes.unread()`` names it.
        """
        return self.scopes.entries()

    def find(self, prefix: str) -> Entry:
        """Return the memory whose id begins with ``prefix``.

        Raises:
            EntryNotFoundError: If there is none.
            AmbiguousIdError: If there are several.
        """
        return self.scopes.find(prefix)

    def recall(self, query: str, limit: int = 20) -> list[Entry]:
        """Return the memories that fit ``query`` best, the best first; any text is a query.

        Args:
            query: Words to look for.
            limit: How many to return at most.
        """
        return self.scopes.recall(query, limit)

    def encoding_gate(self, engram: Engram) -> Decision:
        """Return what is to be done with an engram; nothing is written."""
        return self.scopes.encoding_gate(engram)

    def propose(
        self, engrams: Engram | Iterable[Engram], *, by_person: bool = False
    ) -> list[Receipt]:
        """Gate engrams, then encode or queue each; a receipt for each says what happened.

        A store that cannot be read or written gives receipts with ``failed``, not an exception.

        Args:
            engrams: What is to be remembered.
            by_person: The user typed it here and now: a fact (``Name: Ada``) of theirs with the
                same key gives way to it. Otherwise it is held, whatever source the engram claims.
        """
        return self.scopes.propose(engrams, by_person=by_person)

    def encode(self, engrams: Engram | Iterable[Engram]) -> list[Receipt]:
        """Write engrams without asking the gate: a person has decided. Secrets are redacted."""
        return self.scopes.encode(engrams)

    def forget(self, entry_id: str, why: str = "") -> Entry:
        """Retire the memory with this id or unique prefix; it can be restored."""
        return self.scopes.forget(entry_id, why)

    def restore(self, entry_id: str) -> Entry:
        """Bring back the retired memory with this id or unique prefix, in whichever scope it is.

        Raises:
            EntryNotFoundError: If no archive has one.
            AmbiguousIdError: If the archives of both scopes have several.
        """
        return self.scopes.restore(entry_id)

    def update(self, entry_id: str, text: str) -> Entry:
        """Change the text of a memory; its id stays. Secrets are redacted."""
        return self.scopes.update(entry_id, text)

    def pending(self, *, for_model: bool = False) -> list[Proposal]:
        """Return what waits for a person, global proposals first, each with what it touches.

        Behind them stands what git brought and waits to be approved.

        Args:
            for_model: Whether a model is told: then without anything that git brought and nobody
                approved.
        """
        return self.review.pending(for_model=for_model)

    def resolve(
        self, proposal_id: str, decision: str = "accept", text: str | None = None
    ) -> Receipt:
        """Carry out what a person decided about a proposal.

        Args:
            proposal_id: Its id or a unique prefix.
            decision: ``accept``, ``decline`` or ``skip``.
            text: The words that the person wants instead of the proposed ones, or ``None``.

        Raises:
            InvalidEngramError: If the decision is none of the three, or the text is empty.
            EntryNotFoundError: If no proposal has this id, any more.
            AmbiguousIdError: If several have.
            StoreError: If it could not be written; the proposal still waits.
        """
        return self.review.resolve(proposal_id, decision, text)

    def why(self, entry_id: str) -> Why:
        """Return why a memory, a proposal or a retired memory is there: what taught and brought it.

        Args:
            entry_id: Its id or a unique prefix.

        Raises:
            EntryNotFoundError: If there is none.
            AmbiguousIdError: If there are several.
            StoreError: If a store could not be read.
        """
        from engramdown.gate.why import why

        return why(self.scopes, self.review, entry_id)

    def needs_compaction(self) -> bool:
        """Whether a file holds more memories than ``consolidation.threshold`` allows."""
        return self.scopes.needs_compaction()

    @one_call()
    def compact_all(
        self, *, approved: bool = False, dry_run: bool = False, use_model: bool = True
    ) -> list[CompactionReceipt]:
        """Say the same in fewer memories: duplicates, what has expired, and what a model proposes.

        In autopilot duplicates and what has expired go to the archive; the rest waits for a
        person, as everything does in copilot. What a person wrote always waits.

        Args:
            approved: A person saw the diff and said yes: apply all that needs no further word.
            dry_run: Write nothing, and tell what would be done.
            use_model: Ask the model about files that hold too much, if there is one.

        Returns:
            What became of each operation; of a scope in which nothing is done, why.

        Raises:
            StoreError: If a store could not be read.
            SettingsError: If ``model`` is none.
        """
        from engramdown.gate.compaction import compact

        self.scopes.notice()
        return compact(self.scopes, approved=approved, dry_run=dry_run, use_model=use_model)

    @one_call()
    def sleep(
        self,
        *,
        use_model: bool = True,
        dry_run: bool = False,
        scope: Scope | None = None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> SleepSummary:
        """Do what is due: learn from finished sessions, and compact memory.

        It can be stopped anywhere, also by a kill: the next one goes on there.

        Args:
            use_model: Ask the model, if there is one.
            dry_run: Write nothing and ask no model; tell what would be done.
            scope: Only this scope; by default both.
            should_stop: Asked before each step whether to stop.

        Returns:
            What became of everything; what fails is told there.

        Raises:
            SettingsError: If ``model`` is none.
        """
        from engramdown.sleep.sleep import Sleep

        return Sleep(
            self.scopes, use_model=use_model, dry_run=dry_run, scope=scope, should_stop=should_stop
        ).run()

    def maybe_update_identity(
        self, messages: str | Iterable[str | Message], *, use_model: bool = True
    ) -> list[Receipt]:
        """Keep the facts about the user that are in what they wrote: name, time zone, tools.

        Ask for it every fifth message or so, between turns: a model takes its time. A fact that
        contradicts what a person wrote waits for them. In mode off nothing is looked for.

        Args:
            messages: What the user wrote last, oldest first; a
                :class:`engramdown.consolidation.facts.Message` tells where it stands.
            use_model: Ask the model, if there is one; without, only what is stated is found.

        Returns:
            What became of each fact; ``scopes.notices()`` tells what of a model's answer was
            refused.

        Raises:
            ModelError: If the model gave no answer of use; memory is as it was.
            SettingsError: If ``model`` is none.
            StoreError: If a prompt or the ledger could not be read or written.
        """
        from engramdown.sleep.jobs import facts

        if self.scopes.mode == "off":
            return []
        found = facts(self.scopes, messages, use_model=use_model)
        for refusal in found.refusals:
            self.scopes.tell(refusal)
        return self.propose(found.engrams)

    def build_memory_context(
        self, message: str = "", session: Session | None = None, *, scratchpad: bool = False
    ) -> MemoryContext:
        """Return what a model is to see of memory, ranked by ``message`` under the budgets.

        An unchanged memory gives unchanged bytes. What :meth:`get_scratchpad_context` says stands
        there alone, and is paid for once.

        Args:
            message: What the model is sent.
            session: The conversation that it is for: what was told of earlier ones stays in it,
                and who the assistant and the user are.
            scratchpad: Also what that says: for a program that has no scratchpad to describe.
        """
        return self.context.build(message, session, scratchpad=scratchpad)

    def get_scratchpad_context(self) -> str:
        """Return what memory says about scratchpads, for the description of such a tool.

        :meth:`build_memory_context` leaves it out, unless it is told otherwise.
        """
        return self.context.recollection.scratchpad()

    @one_call()
    def session(
        self,
        session: str | None = None,
        *,
        parent: str | None = None,
        parent_call: str | None = None,
        title: str = "",
        in_view: Iterable[str] = (),
    ) -> Session:
        """Begin a conversation, which is recorded in the transcripts.

        Args:
            session: The id of its transcript, or ``None`` for a new one; one that is there goes on.
            parent: The id of the session that it is begun from.
            parent_call: The tool call that begins it.
            title: What to call it.
            in_view: The ids of sessions that the model sees anyway, so that it is not reminded.

        Raises:
            InvalidSessionError: If an id is no safe file name.
        """
        from engramdown.cortex.session import Session

        return Session(self, session, parent, parent_call, title, in_view=in_view)

    def tool_definitions(
        self, style: str = "openai", names: Iterable[str] | None = None
    ) -> list[dict[str, Any]]:
        """Return the definitions of tools as a provider wants them, as plain JSON.

        Args:
            style: ``openai`` (chat completions), ``openai-responses``, ``anthropic``, ``mcp``, or
                ``plain``: a name, a description and the parameters.
            names: Which tools, in this order; by default ``memorize``, ``recall``,
                ``recall_topic``, ``recall_skill``, ``forget`` and ``review``.

        Raises:
            ValueError: If there is no such style or tool.

        >>> from engramdown import Cortex, Hippocampus
        >>> cortex = Cortex(Hippocampus("home", "global"), Hippocampus("project"))
        >>> [each["name"] for each in cortex.tool_definitions("anthropic", ["recall"])]
        ['recall']
        """
        from engramdown.cortex.tools import definitions

        return definitions(style, names)

    @one_call()
    def use_tool(
        self, name: str, arguments: object, session: Session | None = None, call: str = ""
    ) -> Answer:
        """Return what a tool answers to a model; nothing that a model passes raises.

        Args:
            name: Of the tool.
            arguments: What the model passed: an object, or a string with one in JSON.
            session: The running conversation, which records the call and the result.
            call: The id that the call has, or ``""`` for a new one.
        """
        from engramdown.cortex.tools import use

        return use(self, name, arguments, session, call)

    def reopened(self) -> Cortex:
        """Return another one over the same scopes, whose stores are its own, for another thread.

        A store without files is shared: only whoever wrote it knows how to open it again.
        """
        return Cortex._over(self.scopes.reopened())

    @property
    def episodes(self) -> EpisodicMemory | None:
        """The transcripts: of the project, or of the global scope where no project can be.

        ``None`` if a store has no files, or nothing is to be written.
        """
        return self.scopes.episodes

    @property
    def journal(self) -> Journal:
        """The journal: of the project, or of the global scope where no project can be.

        Raises:
            StoreError: If neither scope has files.
        """
        return self.context.notebooks.journal

    @property
    def skills(self) -> Skillbook:
        """The skills of the project, of all projects, and those that are built in."""
        return self.context.skills

    @cached_property
    def review(self) -> Review:
        """What waits for a person, and what they decide."""
        from engramdown.gate.review import Review

        return Review(self.scopes)

    @cached_property
    def conversations(self) -> Conversations:
        """Running conversations: their prompts, their summaries, the way back to the words."""
        from engramdown.conversation.conversations import Conversations

        return Conversations(self.context)

    @cached_property
    def worker(self) -> Workers:
        """What goes on beside a program: the background worker, sleep, and watching memory."""
        from engramdown.sleep.workers import Workers

        return Workers(self.scopes)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """Return what an older name meant; it works until 0.3."""
            if name not in OLD_NAMES:
                msg = f"{type(self).__name__!r} object has no attribute {name!r}"
                raise AttributeError(msg)
            return getattr(*self._renamed(name))

        def __setattr__(self, name: str, value: object) -> None:
            """Set what an older name meant, such as ``model``; it works until 0.3."""
            if name in OLD_NAMES:
                setattr(*self._renamed(name), value)
            else:
                super().__setattr__(name, value)

        def _renamed(self, name: str) -> tuple[object, str]:
            """Return what has the attribute that an older name meant, and what it is called."""
            *path, last = OLD_NAMES[name].split(".")
            msg = f"Cortex.{name} is deprecated and goes with 0.3; use Cortex.{OLD_NAMES[name]}"
            warnings.warn(msg, DeprecationWarning, stacklevel=3)
            holder: object = self
            for part in path:
                holder = getattr(holder, part)
            return holder, last


# Names of 0.1 that were attributes of a Cortex, and where they are.
OLD_NAMES = {
    **{
        name: f"scopes.{name}"
        for name in (
            *("global_hc", "project_hc", "model", "settings", "stores", "notices", "unread"),
            *("unreadable", "archived", "readable", "if_readable", "usable", "usable_page"),
            *("allow_global", "shared_root", "rehearse", "rehearsed", "retire", "listen"),
        )
    },
    **{name: f"review.{name}" for name in ("resolve_all", "apply_ticks", "arrivals", "keep_own")},
    **{
        name: f"context.{name}"
        for name in ("identity", "standing", "earlier_sessions", "past_experience")
    },
    "build_context": "conversations.build_context",
    "conversation": "conversations.get",
    "count_pending": "review.count",
    "erase": "review.erase",
    "overheard": "conversations.overheard",
    "fill_card": "worker.fill_card",
    "journals": "context.notebooks.journals",
    "notes": "conversations.notes",
    "on_card": "worker.on_card",
    "recall_skill": "skills.recall",
    "recall_topic": "scopes.recall_topic",
    "recent_days": "context.notebooks.recent_days",
    "skill_uses": "skills.uses",
    "sleeper": "worker.sleeper",
    "told": "review.mark_told",
    "topics": "scopes.topics",
    "usable_skills": "skills.usable",
    "watching": "worker.watch",
}
