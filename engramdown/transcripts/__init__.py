"""Transcripts: one line of JSON for each thing said or done, one file for each session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.lazy import door

if TYPE_CHECKING:
    from engramdown.transcripts.changes import SUFFIX
    from engramdown.transcripts.episode import (
        ROLES,
        VERSION,
        Episode,
        Pointer,
        as_text,
        check_session_id,
        encode,
        episode_id,
        is_like,
        is_session_id,
        joined,
        read_line,
        session_of,
        stamp,
        stamp_of,
        words,
        write_line,
    )
    from engramdown.transcripts.payloads import PAYLOADS, Payloads, digest, hidden, shown
    from engramdown.transcripts.session_log import SessionLog
    from engramdown.transcripts.sessions import (
        Reading,
        SessionInfo,
        Sessions,
        Tally,
        count,
        find_running,
        lines,
    )
    from engramdown.transcripts.summary_log import Gist
    from engramdown.transcripts.tool_calls import (
        MOST,
        Iteration,
        ToolCall,
        ToolSum,
        iterations,
        paired,
        sums,
    )
    from engramdown.transcripts.visibility import REDACTED, excluded, live, marked

__all__ = [
    "MOST",
    "PAYLOADS",
    "REDACTED",
    "ROLES",
    "SUFFIX",
    "VERSION",
    "Episode",
    "Gist",
    "Iteration",
    "Payloads",
    "Pointer",
    "Reading",
    "SessionInfo",
    "SessionLog",
    "Sessions",
    "Tally",
    "ToolCall",
    "ToolSum",
    "as_text",
    "check_session_id",
    "count",
    "digest",
    "encode",
    "episode_id",
    "excluded",
    "find_running",
    "hidden",
    "is_like",
    "is_session_id",
    "iterations",
    "joined",
    "lines",
    "live",
    "marked",
    "paired",
    "read_line",
    "session_of",
    "shown",
    "stamp",
    "stamp_of",
    "sums",
    "words",
    "write_line",
]

__getattr__, __dir__ = door(
    __name__,
    {
        "changes": ["SUFFIX"],
        "episode": [
            "ROLES",
            "VERSION",
            "Episode",
            "Pointer",
            "as_text",
            "check_session_id",
            "encode",
            "episode_id",
            "is_like",
            "is_session_id",
            "joined",
            "read_line",
            "session_of",
            "stamp",
            "stamp_of",
            "words",
            "write_line",
        ],
        "payloads": ["PAYLOADS", "Payloads", "digest", "hidden", "shown"],
        "session_log": ["SessionLog"],
        "sessions": [
            "Reading",
            "SessionInfo",
            "Sessions",
            "Tally",
            "count",
            "find_running",
            "lines",
        ],
        "summary_log": ["Gist"],
        "tool_calls": ["MOST", "Iteration", "ToolCall", "ToolSum", "iterations", "paired", "sums"],
        "visibility": ["REDACTED", "excluded", "live", "marked"],
    },
)
