"""The facade: one object over two scopes, with everything that a program needs of memory.

Opening it is cheap: the gate, the context, transcripts and jobs are imported on first use, since a
command that searches memory must start as fast as a shell prompt.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from datetime import date
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
    from engramdown.conversation.chunks import Collections, ConversationContext
    from engramdown.conversation.conversations import Conversations
    from engramdown.cortex.session import Session
    from engramdown.cortex.tools import Answer
    from engramdown.episodes.memory import EpisodicMemory
    from engramdown.gate import CompactionReceipt, Proposal, Receipt, Why
    from engramdown.gate.gate import Decision
    from engramdown.gate.review import Review
    from engramdown.journal.journal import Journal
    from engramdown.sleep.sleep import Workers
    from engramdown.sleep.steps import SleepSummary


class Cortex:
    """Two stores and the gate before them.

    Attributes:
        scopes: The stores and settings, with ways to read and write them.
        context: Builds what a model is shown.
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
            model: A language model, or its name, for jobs that may use one; optional.
            settings: Budgets; the defaults unless given.

        Raises:
            InvalidEngramError: If the mode is unknown.
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
        as_of: str | date = "",
    ) -> Self:
        """Open the scopes that are found from the working directory.

        Args:
            project: A project's folder, or its ``.engramdown``; by default the nearest one above
                the working directory. Without one, the first write makes one there, except in the
                home folder, which holds the global scope and cannot be a project.
            home: The folder of the global scope; by default ``ENGRAMDOWN_HOME`` or
                ``~/.engramdown``.
            mode: ``autopilot``, ``copilot`` or ``off``; by default the configured one.
            model: See :class:`Cortex`.
            settings: The settings; by default those of the ``config.toml`` of both scopes.
            as_of: A day, a time or a commit of git: memory as it was then, from the journal or
                from git, to read only. What was erased since is not there.

        Raises:
            SettingsError: If a setting is wrong, or a folder cannot be a project.
            InvalidEngramError: If ``as_of`` is still to come.
            GitError: If ``as_of`` is no moment, and no commit.
        """
        scopes = Scopes.open(project, home, mode, model, settings=settings, as_of=as_of)
        return cls._over(scopes)

    @property
    def mode(self) -> str:
        """How much is written without asking: ``autopilot``, ``copilot`` or ``off``."""
        return self.scopes.mode

    @mode.setter
    def mode(self, mode: str) -> None:
        self.scopes.mode = mode

    def entries(self) -> list[Entry]:
        """Return every memory, global ones first, in file order, including unapproved ones.

        A file that cannot be read is left out, and ``scopes.unread()`` names it.
        """
        return self.scopes.entries()

    def find(self, prefix: str) -> Entry:
        """Return the memory whose id begins with ``prefix``.

        Raises:
            EntryNotFoundError: If no memory has such an id.
            AmbiguousIdError: If several have.
        """
        return self.scopes.find(prefix)

    def recall(self, query: str, limit: int = 20) -> list[Entry]:
        """Return the memories that fit ``query`` best, the best first; any text is a query.

        Args:
            query: Words to look for.
            limit: How many to return at most.
        """
        found = self.scopes.recall(query, limit)
        self.scopes.count("recalled", found)
        return found

    def encoding_gate(self, engram: Engram) -> Decision:
        """Return the decision about an engram; nothing is written."""
        return self.scopes.encoding_gate(engram)

    def propose(
        self, engrams: Engram | Iterable[Engram], *, by_person: bool = False
    ) -> list[Receipt]:
        """Gate engrams, then encode or queue each; a receipt for each says what happened.

        If a store cannot be read or written, receipts say ``failed``; no exception is raised.

        Args:
            engrams: The engrams to remember.
            by_person: The user typed it here and now, so that it replaces a fact of theirs with
                the same key (``Name: Ada``). Otherwise it is held, whatever source it claims.
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
        """Return the waiting proposals, global ones first, each with the memories it touches.

        What git brought and waits for approval follows them.

        Args:
            for_model: Leave out everything that git brought and nobody approved.
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
            InvalidEngramError: If the decision is unknown, or the text is empty.
            EntryNotFoundError: If no proposal has this id (any more).
            AmbiguousIdError: If several have.
            StoreError: If it could not be written; the proposal still waits.
        """
        return self.review.resolve(proposal_id, decision, text)

    def why(self, entry_id: str) -> Why:
        """Return where a memory, a proposal or a retired memory came from.

        Args:
            entry_id: Its id or a unique prefix.

        Raises:
            EntryNotFoundError: If nothing has this id.
            AmbiguousIdError: If several have.
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
        """Say the same in fewer memories.

        In autopilot duplicates and expired memories go to the archive; what a model proposes waits
        for a person, as everything does in copilot. What a person wrote always waits.

        Args:
            approved: A person saw the diff and said yes: apply all that needs no further decision.
            dry_run: Write nothing, and return what would be done.
            use_model: Ask the model, if there is one, about files that hold too much.

        Returns:
            A receipt for each operation, and one for a scope in which nothing is done.

        Raises:
            StoreError: If a store could not be read.
            SettingsError: If ``model`` is invalid.
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
        """Do the work that is due: learn from finished sessions, and compact memory.

        It can be stopped at any point, even killed; the next sleep continues there.

        Args:
            use_model: Ask the model, if there is one.
            dry_run: Write nothing and ask no model; return what would be done.
            scope: Only this scope; by default both.
            should_stop: Called before each step: whether to stop.

        Returns:
            What was done, and what failed.

        Raises:
            SettingsError: If ``model`` is invalid.
        """
        from engramdown.sleep.sleep import Sleep

        return Sleep(
            self.scopes, use_model=use_model, dry_run=dry_run, scope=scope, should_stop=should_stop
        ).run()

    def maybe_update_identity(
        self, messages: str | Iterable[str | Message], *, use_model: bool = True
    ) -> list[Receipt]:
        """Keep facts about the user from their own messages: name, time zone, tools.

        Call it every fifth message or so, between turns, as a model takes its time. A fact that
        contradicts what a person wrote waits for them. In mode off nothing is done.

        Args:
            messages: The last messages of the user, oldest first; a
                :class:`engramdown.consolidation.facts.Message` also says where it is recorded.
            use_model: Ask the model, if there is one; without, only explicit statements are found.

        Returns:
            A receipt for each fact; ``scopes.notices()`` has what was refused of a model's answer.

        Raises:
            ModelError: If the answer of the model is of no use; memory is unchanged.
            SettingsError: If ``model`` is invalid.
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
        """Return what a model should see of memory, ranked by ``message`` under the budgets.

        An unchanged memory gives unchanged bytes. The text of :meth:`get_scratchpad_context` is
        left out.

        Args:
            message: The message to the model.
            session: Its conversation, in which identity and earlier sessions stay the same.
            scratchpad: Include the scratchpad text, for a program without a scratchpad tool.
        """
        return self.context.build(message, session, scratchpad=scratchpad)

    def conversation_context(
        self, conversation: str, user: str = "", query: str | None = None, recent: int = 20
    ) -> ConversationContext:
        """Return what a model may be shown of a conversation, in five parts.

        They are the working summary, relevant memories, the recent messages, the newest first, what
        is known of the user, and who the assistant is. What one part tells, no other repeats: a
        summarised message is only in the summary of its own conversation. The memories come from
        all three collections.

        Args:
            conversation: The id of a session, or the UUID that one began with.
            user: The name of who speaks as the user. The profile is about the person that it names;
                of somebody else it is what memory says of that name.
            query: What the memories are to be about; by default the user's last message.
            recent: How many messages at most.

        Raises:
            ValueError: If ``recent`` is negative.
            SessionNotFoundError: If there is no such conversation.
            StoreError: If memory cannot be read, or no scope has files.
        """
        return self.collections.context(conversation, user, query, recent)

    def get_scratchpad_context(self) -> str:
        """Return what memory says about scratchpads, for the description of such a tool."""
        return self.context.recollection.scratchpad()

    @one_call()
    def session(
        self,
        session: str | None = None,
        *,
        parent: str | None = None,
        parent_call: str | None = None,
        title: str = "",
        conversation: str = "",
    ) -> Session:
        """Begin a conversation, which is recorded in the transcripts.

        Args:
            session: The id of its transcript, which is continued if it exists; ``None`` for a new
                one.
            parent: The id of the session that begins it.
            parent_call: The tool call that begins it.
            title: Its title.
            conversation: The UUID of the conversation that another program has it in. A session
                that began with the same one goes on, unless ``session`` is given.

        Raises:
            InvalidSessionError: If an id is not a safe file name.
            ValueError: If ``conversation`` is not a UUID.
        """
        from engramdown.cortex.session import Session

        return Session(self, session, parent, parent_call, title, conversation=conversation)

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
            ValueError: If the style or a tool is unknown.

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
        """Return the answer of a tool to a model; nothing that a model passes raises.

        Args:
            name: The name of the tool.
            arguments: The arguments from the model: an object, or a string with one in JSON.
            session: The running conversation, which records the call and the result.
            call: The id of the call, or ``""`` for a new one.
        """
        from engramdown.cortex.tools import use

        return use(self, name, arguments, session, call)

    def reopened(self) -> Cortex:
        """Return a second Cortex over the same scopes, with stores of its own, for another thread.

        A store without files is shared, as only its author knows how to open it again.
        """
        return Cortex._over(self.scopes.reopened())

    @property
    def episodes(self) -> EpisodicMemory | None:
        """The transcripts of the project, or of the global scope where no project can be.

        ``None`` if a store has no files, or nothing may be written.
        """
        return self.scopes.episodes

    @property
    def journal(self) -> Journal:
        """The journal of the project, or of the global scope where no project can be.

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
        """The review queue."""
        from engramdown.gate.review import Review

        return Review(self.scopes)

    @cached_property
    def conversations(self) -> Conversations:
        """Running conversations: their prompts, their summaries, and the way back to the words."""
        from engramdown.conversation.conversations import Conversations

        return Conversations(self.context)

    @cached_property
    def collections(self) -> Collections:
        """Messages and memories, summaries, and pages of the journal, as chunks to search."""
        from engramdown.conversation.chunks import Collections

        return Collections(self.conversations)

    @cached_property
    def worker(self) -> Workers:
        """Background work: the worker, sleep, and watching memory."""
        from engramdown.sleep.sleep import Workers

        return Workers(self.scopes)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """Return the attribute of an older name; older names work until 0.3."""
            if name not in OLD_NAMES:
                msg = f"{type(self).__name__!r} object has no attribute {name!r}"
                raise AttributeError(msg)
            return getattr(*self._renamed(name))

        def __setattr__(self, name: str, value: object) -> None:
            """Set the attribute of an older name, such as ``model``."""
            if name in OLD_NAMES:
                setattr(*self._renamed(name), value)
            else:
                super().__setattr__(name, value)

        def _renamed(self, name: str) -> tuple[object, str]:
            """Return the object that has the attribute of an older name, and its new name."""
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
            *("allow_global", "shared_root", "retire", "listen"),
        )
    },
    **{name: f"review.{name}" for name in ("resolve_all", "apply_ticks", "arrivals", "keep_own")},
    **{name: f"context.{name}" for name in ("identity", "earlier_sessions", "past_experience")},
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
    "rehearse": "scopes.dry_run",
    "rehearsed": "scopes.planned_changes",
    "recent_days": "context.notebooks.recent_days",
    "skill_uses": "skills.uses",
    "sleeper": "worker.sleeper",
    "standing": "context.recollection.standing",
    "told": "review.mark_told",
    "topics": "scopes.topics",
    "usable_skills": "skills.usable",
    "watching": "worker.watch",
}
