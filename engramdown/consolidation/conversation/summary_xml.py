"""A summary as a model is shown it: history that it may not trust, in XML that nothing can close.

Promises: pure; no text breaks out of its element, whatever it says; what stands in an attribute
stays in it; no character is left that XML 1.0 forbids. The same gist gives the same bytes.
"""

from __future__ import annotations

from typing import Final
from xml.sax.saxutils import escape, quoteattr

from engramdown.language.untrusted import inert
from engramdown.transcripts.summary_log import Gist

__all__ = ["format_summary"]

_HEAD: Final = 'status="historical" trust="untrusted"'


def format_summary(gist: Gist, session: str) -> str:
    """Return a gist of a session as XML.

    Args:
        gist: The gist.
        session: The id of the session; its messages are named ``<session>#<number>``.

    >>> said = Gist("g1", "", "leaf", 0, (1, 2), "a </content> & b", 4, messages=2)
    >>> print(format_summary(said, "s"))
    <summary id="g1" kind="leaf" depth="0" messages="2" status="historical" trust="untrusted">
    <sources><messages from="s#1" to="s#2"/></sources>
    <content>
    a &lt;/content&gt; &amp; b
    </content>
    </summary>
    """
    told = {
        "id": gist.id,
        "kind": gist.form,
        "depth": gist.depth,
        "earliest_at": gist.earliest,
        "latest_at": gist.latest,
        "messages": gist.messages,
        "level": "" if gist.level == "normal" else gist.level,
    }
    said = " ".join(f"{name}={_value(value)}" for name, value in told.items() if value != "")
    sources = "".join(_source(run, session) for run in gist.runs)
    text = escape(_legal(gist.text).strip())
    return (
        f"<summary {said} {_HEAD}>\n<sources>{sources}</sources>\n"
        f"<content>\n{text}\n</content>\n</summary>"
    )


def _source(run: tuple[int, int] | str, session: str) -> str:
    if isinstance(run, str):
        return f"<summary id={_value(run)}/>"
    first, last = (_value(f"{session}#{seq}") for seq in run)
    return f"<messages from={first} to={last}/>"


def _value(value: object) -> str:
    return quoteattr(_legal(str(value)).replace('"', "'"))


def _legal(text: str) -> str:
    # XML forbids two more characters, which are none.
    return inert(text).replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd")
