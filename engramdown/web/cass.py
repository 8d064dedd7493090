"""The four routes of Cass: a conversation's summary, asking for one, chunks, and a search in them.

A summary is made beside the calls, in a thread with a Cortex of its own; so is the index of the
transcripts if it is not there, and who searches meanwhile is asked to come again.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field

from engramdown.forks import Lock, in_thread
from engramdown.web.problems import ProblemError, problem_of
from engramdown.web.routes import Call, Form, Reply, Route, next_page

if TYPE_CHECKING:
    from engramdown.conversation import Chunk, Collection

# How many summaries are made at once.
_MOST: Final = 4
# How many failures are remembered.
_MOST_KEPT: Final = 100
# For how many seconds a search waits for an index that is being made.
_PATIENCE: Final = 2.0
_LONGEST_ID: Final = 100

_CONVERSATION: Final = "The id of a session, or the UUID that one began with."
_TYPE: Final = "The only type."


class Beside:
    """Work that goes on beside the calls of this process, the same only once at a time."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._lock = Lock()
        self._tasks: dict[Hashable, Future[object]] = {}

    def begin(self, key: Hashable, work: Callable[[], object]) -> bool:
        """Begin ``work`` in a thread of its own; ``False`` if it is being done already.

        Raises:
            ProblemError: If too much is being done.
        """
        with self._lock:
            if not self.is_done(key):
                return False
            running = [each for each in self._tasks if not self.is_done(each)]
            if len(running) >= _MOST:
                retry = {"Retry-After": "5"}
                raise ProblemError("busy", f"{_MOST} are running already", headers=retry)
            # Who asks later is told what failed.
            kept = [*running, *filter(self.failure, self._tasks)]
            self._tasks = {each: self._tasks[each] for each in kept[-_MOST_KEPT:]}
            self._tasks[key] = in_thread(work, "engramdown-beside")
        return True

    def is_done(self, key: Hashable, seconds: float = 0.0) -> bool:
        """Wait until work is done, but no longer than this; whether it is."""
        task = self._tasks.get(key)
        return task is None or not wait_for([task], seconds).not_done

    def failure(self, key: Hashable) -> str:
        """Return why the last work of this kind failed, or ``""``."""
        task = self._tasks.get(key)
        error = task.exception() if task is not None and task.done() else None
        return problem_of(error).data["detail"] if isinstance(error, Exception) else ""


BESIDE: Final = Beside()
# Whose index cannot be kept.
_UNKEPT: Final[set[Hashable]] = set()


class Asked(Form):
    """Which conversation to summarise."""

    conversation_id: str = Field(min_length=1, max_length=_LONGEST_ID, description=_CONVERSATION)


def _cursor(after: str) -> str:
    from engramdown.conversation import read_cursor

    if after:
        read_cursor(after)
    return after


class ChunkQuery(Form):
    """Which chunks to list."""

    conversation_id: str | None = Field(None, max_length=_LONGEST_ID, description=_CONVERSATION)
    type: Literal["message", "summary", "journal"] | None = Field(None, description=_TYPE)
    limit: int = Field(50, ge=1, le=500, description="How many at most.")
    after: Annotated[str, AfterValidator(_cursor)] = Field(
        "", description="`next` of the last answer."
    )


class SearchQuery(Form):
    """What to search for, and in which chunks."""

    query: str = Field(min_length=1, max_length=10_000, description="Any text.")
    limit: int = Field(10, ge=1, le=50, description="How many at most.")
    conversation_id: str | None = Field(None, max_length=_LONGEST_ID, description=_CONVERSATION)
    type: Literal["message", "summary", "journal"] | None = Field(None, description=_TYPE)
    min_similarity: float = Field(
        0.0, ge=0, le=1, description="What is less similar is left out, however new it is."
    )
    recency: float = Field(
        0.0, ge=0, le=1, description="How much age counts; at 1 it halves in 30 days."
    )


def memory_summary(call: Call) -> Reply:
    """Return the working summary of a conversation."""
    conversation = call.path["conversation_id"]
    collections = call.cortex.collections
    key = _key(call, collections.session_of(conversation))
    # Looked at first: what is done before the summary is read is in it.
    is_done = BESIDE.is_done(key)
    found = collections.summary(conversation)
    if found is None:
        why = _no_summary(key) if is_done else "is being summarised; ask again"
        raise ProblemError("not-found", f"{conversation}: {why}")
    return Reply(
        {
            "id": found.id,
            "conversation_id": found.conversation,
            "content": found.content,
            "created_at": found.created,
            "message_count": found.messages,
            "token_count": found.tokens,
        }
    )


def summarize_memory(call: Call) -> Reply:
    """Begin to summarise a conversation.

    `GET /memory/summary/{conversation_id}` has the summary when it is done. Without a model it is
    made by rules. A conversation that is being summarised is a 409.
    """
    conversation = call.body.conversation_id
    key = _key(call, call.cortex.collections.session_of(conversation))
    own = call.cortex.reopened()
    if not BESIDE.begin(key, lambda: own.collections.summarize(conversation)):
        raise ProblemError("refused", f"{conversation}: is being summarised already")
    return Reply({"conversation_id": conversation, "status": "started"}, 202)


def memory_chunks(call: Call) -> Reply:
    """List chunks: messages, memories, summaries, pages of the journal; the newest first."""
    _wait_for_index(call)
    query = call.query
    found = call.cortex.collections.chunks(
        query.limit,
        collection=_collection(query.type),
        conversation=query.conversation_id,
        after=query.after,
    )
    headers = {"Link": next_page(call, found.after)} if found.after else {}
    chunks = [as_json(each) for each in found.chunks]
    return Reply({"chunks": chunks, "next": found.after or None}, headers=headers)


def search_memory(call: Call) -> Reply:
    """Return the chunks that are most similar to a text, the most similar first."""
    _wait_for_index(call)
    query = call.query
    found = call.cortex.collections.search(
        query.query,
        query.limit,
        collection=_collection(query.type),
        conversation=query.conversation_id,
        min_similarity=query.min_similarity,
        recency=query.recency,
        is_counted=not call.by_person,
    )
    chunks = [as_json(each) for each in found.chunks]
    return Reply({"chunks": chunks, "by": found.by, "notes": list(found.notes)})


def as_json(chunk: Chunk) -> dict[str, Any]:
    """Return a chunk as Cass has it; what is not known is null."""
    return {
        "id": chunk.id,
        "content": chunk.content,
        "metadata": {
            "conversation_id": chunk.conversation or None,
            "user_id": chunk.user or None,
            "timestamp": chunk.timestamp or None,
            "type": chunk.type,
            "role": chunk.role,
        },
    }


def _collection(type_: str | None) -> Collection | None:
    from engramdown.conversation import TYPES

    return next((each for each, name in TYPES.items() if name == type_), None)


def _key(call: Call, session: str) -> Hashable:
    """Return what names the summary of a session among what is done beside the calls."""
    return "summary", _folder(call), session


def _folder(call: Call) -> str:
    return str(call.cortex.episodes and call.cortex.episodes.folder)


def _no_summary(key: Hashable) -> str:
    failed = BESIDE.failure(key)
    why = f"; the last one failed: {failed}" if failed else ""
    return f"has no summary yet{why}; POST /memory/summarize begins one, if it has earlier turns"


def _wait_for_index(call: Call) -> None:
    """Have the index made if it is not there.

    Raises:
        ProblemError: If that takes longer than a call may wait.
    """
    key = ("index", _folder(call))
    if call.cortex.collections.is_ready() or key in _UNKEPT:
        return
    own = call.cortex.reopened()
    BESIDE.begin(key, own.collections.keep_up)
    if not BESIDE.is_done(key, _PATIENCE):
        why = "the index of the transcripts is being made; ask again"
        raise ProblemError("busy", why, headers={"Retry-After": "2"})
    if not call.cortex.collections.is_ready():
        # It can be kept in no file, so each thread has one in memory.
        _UNKEPT.add(key)


ROUTES: Final = (
    Route(
        "GET",
        "/memory/summary/{conversation_id}",
        memory_summary,
        "Summary",
        answers={200: "The summary, how many messages it stands for, and what it costs."},
    ),
    Route(
        "POST",
        "/memory/summarize",
        summarize_memory,
        "Summarizing",
        changes=True,
        body=Asked,
        answers={202: "It has begun."},
    ),
    Route(
        "GET",
        "/memory/chunks",
        memory_chunks,
        "Chunks",
        query=ChunkQuery,
        answers={200: "`chunks`, and where to go on (`next`), null after the last."},
    ),
    Route(
        "GET",
        "/memory/search",
        search_memory,
        "Nearest",
        query=SearchQuery,
        answers={200: "`chunks`, how they were found (`by`: vectors or words), and `notes`."},
    ),
)
