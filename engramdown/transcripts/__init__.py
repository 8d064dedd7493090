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
        join_surrogates,
        read_line,
        safe_str,
        session_of,
        stamp,
        stamp_of,
        write_line,
    )
    from engramdown.transcripts.payloads import (
        PAYLOADS,
        Payloads,
        digest,
        redact_for_role,
        shorten_for_line,
    )
    from engramdown.transcripts.session_log import SessionLog
    from engramdown.transcripts.sessions import (
        Reading,
        SessionInfo,
        Sessions,
        Tally,
        count_session,
        find_running,
        lines,
    )
    from engramdown.transcripts.summary_log import FOLDER, Gist
    from engramdown.transcripts.tool_calls import (
        MOST,
        Iteration,
        ToolCall,
        ToolSum,
        find_tool_calls,
        iterations,
        paired,
        sums,
    )
    from engramdown.transcripts.visibility import REDACTED, excluded, read_mark, visible

__all__ = [
    "FOLDER",
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
    "count_session",
    "digest",
    "encode",
    "episode_id",
    "excluded",
    "find_running",
    "find_tool_calls",
    "is_like",
    "is_session_id",
    "iterations",
    "join_surrogates",
    "lines",
    "paired",
    "read_line",
    "read_mark",
    "redact_for_role",
    "safe_str",
    "session_of",
    "shorten_for_line",
    "stamp",
    "stamp_of",
    "sums",
    "visible",
    "write_line",
]

__getattr__, __dir__ = door(
    __name__,
    {
        "changes": ["SUFFIX"],
        "episode": [
            "Episode",
            "Pointer",
            "ROLES",
            "VERSION",
            "as_text",
            "check_session_id",
            "encode",
            "episode_id",
            "is_like",
            "is_session_id",
            "join_surrogates",
            "read_line",
            "safe_str",
            "session_of",
            "stamp",
            "stamp_of",
            "write_line",
        ],
        "payloads": ["PAYLOADS", "Payloads", "digest", "redact_for_role", "shorten_for_line"],
        "session_log": ["SessionLog"],
        "sessions": [
            "Reading",
            "SessionInfo",
            "Sessions",
            "Tally",
            "count_session",
            "find_running",
            "lines",
        ],
        "summary_log": ["FOLDER", "Gist"],
        "tool_calls": [
            "Iteration",
            "MOST",
            "ToolCall",
            "ToolSum",
            "find_tool_calls",
            "iterations",
            "paired",
            "sums",
        ],
        "visibility": ["REDACTED", "excluded", "read_mark", "visible"],
    },
)
