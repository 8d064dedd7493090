r"""A session as markdown, for a person, and as JSON, for a program.

What was said cannot look like a part of the page: it is in quotations and in fences that are
longer than any run of backticks inside; a result is below the call that it answers. The JSON
holds everything.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

from engramdown.transcripts.episode import Episode, write_line
from engramdown.transcripts.tool_calls import paired, took

FORMAT_VERSION: Final = 1

# Returns the whole text of an episode that shows it cut, or `None` if it was not kept.
Whole = Callable[[Episode], str | None]

_RUN: Final = re.compile("`+")
_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_SPOKEN: Final = ("user", "assistant", "system")
_LEAST_FENCE: Final = 3


def as_json(session: str, episodes: Iterable[Episode], whole: Whole) -> dict[str, Any]:
    """Return a session with everything in it, as JSON can say it.

    Args:
        session: Its id.
        episodes: Its episodes, in their order.
        whole: Returns whole texts.
    """
    found = list(episodes)
    texts = {episode.payload: whole(episode) for episode in found if episode.payload}
    return {
        "engramdown": FORMAT_VERSION,
        "session": session,
        "episodes": [json.loads(write_line(episode)) for episode in found],
        "payloads": {name: text for name, text in texts.items() if text is not None},
    }


def as_markdown(session: str, episodes: Iterable[Episode], whole: Whole) -> str:
    """Return a session as a page; see :func:`as_json` for the arguments."""
    found = list(episodes)
    parts = ["\n".join(_head(session, found))]
    for episode, answer in paired(found):
        if episode.event in ("start", "end"):  # They are in the head of the page.
            continue
        name = episode.event or _name(episode)
        heading = f"{name} {_code(episode.name)}" if episode.name else name
        parts.append(" · ".join([f"## {heading}", *_facts(episode)]))
        if episode.role == "event":
            parts.append(_fenced(json.dumps(dict(episode.more), ensure_ascii=False)))
        else:
            parts += _body(episode, whole)
        if answer is not None:
            parts += [" · ".join(["Result", *_facts(answer)]), *_body(answer, whole)]
        elif episode.role == "tool_call":
            parts.append("*No result.*")
    return "\n\n".join(parts) + "\n"


# ---- the head ----


def _head(session: str, episodes: Sequence[Episode]) -> Iterator[str]:
    start = next((episode for episode in episodes if episode.event == "start"), None)
    end = next((episode for episode in reversed(episodes) if episode.event == "end"), None)
    said = start.more if start else {}
    title = said.get("title")
    yield f"# {_code(title)}" if isinstance(title, str) and title else f"# Session {session}"
    yield ""
    yield f"- session: {_code(session)}"
    if episodes:
        yield f"- start: {_time(start or episodes[0])}"
        reason = end.more.get("reason") if end else None
        why = reason if isinstance(reason, str) and reason else "no reason given"
        is_plain = why.isidentifier() or why != reason
        yield f"- end: {_time(end)} ({why if is_plain else _code(why)})" if end else "- end: open"
    for name in ("source", "parent", "parent_call"):
        if said.get(name):
            yield f"- {name.replace('_', ' ')}: {_code(str(said[name]))}"
    counted = Counter(_name(episode) for episode in episodes if episode.role != "event")
    each = ", ".join(f"{count} {name}" for name, count in counted.items())
    yield f"- episodes: {sum(counted.values())}" + (f" ({each})" if each else "")


def _time(episode: Episode) -> str:
    return f"{episode.ts[:10]} {episode.ts[11:19]} UTC"


def _name(episode: Episode) -> str:
    return episode.role.replace("_", " ")


# ---- one episode ----


def _facts(episode: Episode) -> Iterator[str]:
    """Yield what is known of an episode, for one line."""
    yield f"#{episode.seq}"
    yield _time(episode)
    if episode.ms is not None:
        yield took(episode.ms)
    if episode.model:
        yield _code(episode.model)
    if episode.error:
        yield "**error**" if episode.error is True else f"**error** {_code(episode.error)}"


def _body(episode: Episode, whole: Whole) -> Iterator[str]:
    kept = whole(episode) if episode.payload else None
    text = episode.text if kept is None else kept
    if not text:
        yield "*Empty.*"
    elif episode.role in _SPOKEN:
        # Every line, whatever ends it, begins as a quotation.
        yield "> " + _LINE_END.sub(lambda found: f"{found[0]}> ", text)
    else:
        yield _fenced(text)
    if kept is None and episode.cut is not None:
        yield f"*Cut: {len(episode.text):,} of {episode.cut:,} characters were kept.*"


def _fenced(text: str) -> str:
    fence = "`" * max(_LEAST_FENCE, _longest_run(text) + 1)
    return f"{fence}\n{text}\n{fence}"


def _code(text: str) -> str:
    """Return a text as code in a line."""
    inline = " ".join(text.split())
    mark = "`" * (_longest_run(inline) + 1)
    pad = " " if inline.startswith("`") or inline.endswith("`") or not inline else ""
    return f"{mark}{pad}{inline}{pad}{mark}"


def _longest_run(text: str) -> int:
    return max(map(len, _RUN.findall(text)), default=0)
