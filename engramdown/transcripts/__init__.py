"""Transcripts: one line of JSON for each thing said or done, one file for each session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.lazy import door

if TYPE_CHECKING:
    from engramdown.transcripts.changes import SUFFIX as SUFFIX
    from engramdown.transcripts.episode import ROLES as ROLES
    from engramdown.transcripts.episode import VERSION as VERSION
    from engramdown.transcripts.episode import Episode as Episode
    from engramdown.transcripts.episode import Pointer as Pointer
    from engramdown.transcripts.episode import as_text as as_text
    from engramdown.transcripts.episode import check_session_id as check_session_id
    from engramdown.transcripts.episode import encode as encode
    from engramdown.transcripts.episode import episode_id as episode_id
    from engramdown.transcripts.episode import is_like as is_like
    from engramdown.transcripts.episode import is_session_id as is_session_id
    from engramdown.transcripts.episode import join_surrogates as join_surrogates
    from engramdown.transcripts.episode import read_line as read_line
    from engramdown.transcripts.episode import safe_str as safe_str
    from engramdown.transcripts.episode import session_of as session_of
    from engramdown.transcripts.episode import stamp as stamp
    from engramdown.transcripts.episode import stamp_of as stamp_of
    from engramdown.transcripts.episode import write_line as write_line
    from engramdown.transcripts.payloads import PAYLOADS as PAYLOADS
    from engramdown.transcripts.payloads import Payloads as Payloads
    from engramdown.transcripts.payloads import digest as digest
    from engramdown.transcripts.payloads import redact_for_role as redact_for_role
    from engramdown.transcripts.payloads import shorten_for_line as shorten_for_line
    from engramdown.transcripts.session_log import SessionLog as SessionLog
    from engramdown.transcripts.sessions import Reading as Reading
    from engramdown.transcripts.sessions import SessionInfo as SessionInfo
    from engramdown.transcripts.sessions import Sessions as Sessions
    from engramdown.transcripts.sessions import Tally as Tally
    from engramdown.transcripts.sessions import count_session as count_session
    from engramdown.transcripts.sessions import find_running as find_running
    from engramdown.transcripts.sessions import lines as lines
    from engramdown.transcripts.sessions import whole_lines as whole_lines
    from engramdown.transcripts.summary_log import FOLDER as FOLDER
    from engramdown.transcripts.summary_log import Gist as Gist
    from engramdown.transcripts.tool_calls import MOST as MOST
    from engramdown.transcripts.tool_calls import Iteration as Iteration
    from engramdown.transcripts.tool_calls import ToolCall as ToolCall
    from engramdown.transcripts.tool_calls import ToolSum as ToolSum
    from engramdown.transcripts.tool_calls import find_tool_calls as find_tool_calls
    from engramdown.transcripts.tool_calls import iterations as iterations
    from engramdown.transcripts.tool_calls import paired as paired
    from engramdown.transcripts.tool_calls import sums as sums
    from engramdown.transcripts.visibility import REDACTED as REDACTED
    from engramdown.transcripts.visibility import excluded as excluded
    from engramdown.transcripts.visibility import read_mark as read_mark
    from engramdown.transcripts.visibility import visible as visible

__getattr__, __dir__ = door(
    __name__,
    {
        "changes": ["SUFFIX"],
        "episode": [
            *("ROLES", "VERSION", "Episode", "Pointer", "as_text", "check_session_id"),
            *("encode", "episode_id", "is_like", "is_session_id", "join_surrogates"),
            *("read_line", "safe_str", "session_of", "stamp", "stamp_of", "write_line"),
        ],
        "payloads": ["PAYLOADS", "Payloads", "digest", "redact_for_role", "shorten_for_line"],
        "session_log": ["SessionLog"],
        "sessions": [
            *("Reading", "SessionInfo", "Sessions", "Tally", "count_session", "find_running"),
            *("lines", "whole_lines"),
        ],
        "summary_log": ["FOLDER", "Gist"],
        "tool_calls": [
            *("MOST", "Iteration", "ToolCall", "ToolSum", "find_tool_calls", "iterations"),
            *("paired", "sums"),
        ],
        "visibility": ["REDACTED", "excluded", "read_mark", "visible"],
    },
)
