"""What the program says in a review.

Promises: pure; plain words; an error names the next step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engramdown.cli import messages

if TYPE_CHECKING:
    from engramdown import Proposal


SIMILAR: Final = "like  "
EMPTY_PROPOSAL: Final = "The text is empty; d declines a proposal."
KEY_WORDS: Final = {
    "a": "accept",
    "A": "accept all of this kind",
    "e": "edit",
    "d": "decline",
    "s": "skip",
    "q": "stop",
}
_ACCEPT: Final = {
    "encode": "it is remembered",
    "replace": "it takes the place of what is marked -",
    "forget": "it is forgotten; `engramdown restore` brings it back",
    "drop": "it is retired; `engramdown restore` brings it back",
    "expire": "it is retired; `engramdown restore` brings it back",
    "supersede": "it is retired; `engramdown restore` brings it back",
    "merge": "one memory, marked +, takes the place of those marked -",
    "move": "it is moved, and stays a memory",
    "skill": "it is written as a skill",
    "load": "a model sees it from now on",
}
_DECLINE: Final = {
    "encode": "it is not proposed again, re-worded or not",
    "replace": "what stands there stays, and this is not proposed again",
    "forget": "it stays a memory",
    "skill": "it is not proposed again",
    "load": "no model sees it; the file stays as it is",
}
_STAYS: Final = "all stays as it is, and this is not proposed again"
_KINDS: Final = {
    "forget": "to forget something",
    "drop": "to retire a duplicate",
    "expire": "to retire what expired",
    "supersede": "to retire what is replaced",
    "merge": "to make one memory of several",
    "move": "to move something to another topic",
    "skill": "for a skill",
    "page": "about a page that came with git",
}


def kind(proposal: Proposal) -> str:
    """Return what one key accepts together: a yes to lessons takes no memory away."""
    if proposal.op == "load":
        return f"{proposal.engram.kind} of others" if proposal.line else "page"
    return proposal.engram.kind if proposal.op in ("encode", "replace") else proposal.op


def has_words(proposal: Proposal) -> bool:
    """Whether a proposal brings words, which can be changed before they are accepted."""
    return proposal.op in ("encode", "replace", "merge", "skill") or (
        proposal.op == "load" and bool(proposal.line)
    )


def keys(proposal: Proposal, width: int) -> str:
    """Ask for a key, in one row of a terminal."""
    edit = " · e edit" if has_words(proposal) else ""
    asked = f"a accept{edit} · d decline · s skip · A all of this kind · q stop > "
    if len(asked) < width:
        return asked
    return "a e d s A q, ? for help > " if edit else "a d s A q, ? for help > "


def key_help(proposal: Proposal) -> list[str]:
    """Say what each key does about this proposal."""
    edit = ["e  edit: change the text in your editor, then accept it"]
    group = kind(proposal)
    others = _KINDS.get(group, f"of the kind {group}")
    return [
        f"a  accept: {_ACCEPT[proposal.op]}",
        *(edit if has_words(proposal) else []),
        f"d  decline: {_DECLINE.get(proposal.op, _STAYS)}",
        "s  skip: it keeps waiting",
        f"A  accept this and every later proposal {others}",
        "q  stop: what is decided stays decided, the rest keeps waiting",
    ]


def proposal_facts(proposal: Proposal) -> str:
    """Say in one line what is known about a proposal, or claimed by what git brought."""
    engram = proposal.engram
    is_page = proposal.op == "load" and not proposal.line
    what = "skill" if proposal.op == "skill" else engram.kind
    facts = ["page" if is_page else what, engram.scope]
    facts += [] if is_page else [f"{engram.confidence} confidence"]
    # Whose word it is a line says of itself; of one that git brought it is not this user's.
    is_ours = proposal.op != "load" and proposal.is_ours
    facts.append(f"from {messages.SOURCE_NAMES[engram.source]}" if is_ours else "somebody else's")
    facts += [f"topic {engram.topic}"] if engram.topic else []
    facts += [f"learned in {engram.origin}"] if engram.origin else []
    facts += [proposal.ts] if proposal.ts else []
    return " · ".join(facts)


def waits_because(reason: str) -> str:
    """Say why a proposal waits."""
    return f"Waits because: {reason}"


def decided_twice(entry_id: str) -> str:
    """Say that two options are about one proposal."""
    return f"{entry_id} is named twice; decide once"


def waiting(count: int) -> str:
    """Say how many proposals wait, and how to decide."""
    if not count:
        return "Nothing is waiting."
    how = "`engramdown review` in a terminal, or with --accept ID, --decline ID, --all"
    return f"{count} waiting. Decide by ticking in pending.md, or with {how}."


def came_with_git(count: int) -> str:
    """Say that memories of somebody else came."""
    what, them = ("1 thing", "it") if count == 1 else (f"{count} things", "them")
    return f"{what} came with git since you last looked, and nobody here wrote {them}:"


def came_briefly(count: int) -> str:
    """Say the same in a note."""
    what = "1 thing" if count == 1 else f"{count} things"
    return f"{what} in memory came with git; `engramdown review` lists what it is"


def more_came(count: int) -> str:
    """Say how many more came than are listed."""
    return f"… and {count:,} more; `engramdown list` shows all that is there"


def walk_done(decided: int, left: int) -> str:
    """Say what the walk did."""
    if not decided and not left:
        return "Nothing is waiting."
    return f"{decided} decided, {left} still waiting."
