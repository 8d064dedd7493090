"""What the program says of the journal: who did what, and what was undone.

Promises: pure; plain words; an error names the next step.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from engramdown.cli import messages

if TYPE_CHECKING:
    from engramdown import Proposal
    from engramdown.hippocampus.entry import Archived
    from engramdown.hippocampus.history import Step


BY_HAND: Final = "A person wrote this line by hand: it is theirs, and no automatic job touches it."
SOMEBODY_ELSES: Final = "It came with git: nobody here said or confirmed it."
NO_STEPS: Final = "The journal has no step about it: it came with the file."
_BASES: Final = {
    "told": "said so",
    "observed": "saw it",
    "inferred": "inferred it",
    "verified": "said so, and a person confirmed it",
}
_CLONED: Final = ("found", "git had it already")
_OTHER_VERSION: Final = "Another version of the file came with git"
_WITH_GIT: Final = "The file came with git"
_WHO: Final = {
    "user": "You",
    "person": "You, by hand,",
    "llm": "The assistant",
    "consolidation": "Tidying up",
    "engramdown": "Engramdown",
    "git": "Somebody else, in a commit,",
}
_OPS: Final = {
    "accept": "accepted a proposal",
    "compact": "compacted memory",
    "decline": "declined a proposal",
    "edit": "edited the file",
    "encode": "remembered",
    "erase": "erased for good",
    "forget": "forgot",
    "found": "brought the file",
    "init": "set this up",
    "late": "edited the file some time before",
    "meanwhile": "edited the file while a memory was written",
    "migrate": "brought in older notes",
    "notice": "took in what follows from a hand edit",
    "propose": "proposed",
    "restore": "restored",
    "rewrite": "mended the file",
    "sleep": "learned from a session",
    "undo": "undid",
    "update": "changed",
}


def is_erased(entry_id: str) -> str:
    """Say that nothing is kept of what a step did to a memory."""
    return f"{entry_id or 'a line without an id'}: erased for good"


def whence(source: str, basis: str, origin: str) -> str:
    """Say who a memory is from and how it is known."""
    who = messages.SOURCE_NAMES[source].capitalize()
    learned = f", in {origin}" if origin else ""
    return f"{who} {_BASES[basis]}{learned}."


def stands_in(place: str, scope: str) -> str:
    """Say where a memory stands now."""
    return f"It stands in {place}, for {messages.SCOPE_NAMES[scope]}."


def waits_in(proposal: Proposal) -> str:
    """Say that a proposal waits, and why."""
    why = proposal.hold or proposal.reason
    place = f"{Path(proposal.file).name}:{proposal.line}"
    return f"It waits in {place}{f', because: {why}' if why else ''}."


def retired(item: Archived) -> str:
    """Say that a memory is retired."""
    by = f" by {messages.BY_NAMES.get(item.by, item.by)}" if item.by else ""
    date = f" on {item.date}" if item.date else ""
    now = f", replaced by {item.replaced}" if item.replaced else ""
    return f"It was retired{by}{date}: {item.reason or 'no reason given'}{now}."


def is_said_by_title(step: Step) -> bool:
    """Whether the title of a step says already why it was done."""
    by_hand = step.by == "person" and step.why.startswith("by hand")
    return by_hand or (step.op, step.why) == _CLONED


def step_title(step: Step) -> str:
    """Say who did what."""
    if (step.op, step.why) == _CLONED:
        return _WITH_GIT
    if step.op == "checkout":
        # Nobody here wrote it, whoever was first to see it.
        return _OTHER_VERSION
    what = f" step {step.of}" if step.of else ""
    return f"{_WHO.get(step.by, step.by)} {_OPS.get(step.op, step.op)}{what}"


def more_changes(count: int) -> str:
    """Say how many changes are not shown."""
    return f"... and {count} more; --json shows all"


def no_history(file: str | None) -> str:
    """Say that there are no steps."""
    return f"no step changed {file}" if file else "nothing was changed so far"


def no_step(step_id: str) -> str:
    """Say that there is no such step."""
    return f"no step {step_id!r}; `engramdown history` shows the steps"


def undone(step: Step) -> str:
    """Say what was undone."""
    return f"Undone: step {_named(step)}"


def passed_over(step: Step) -> str:
    """Say that nothing is left of a step that could be undone."""
    return f"Passed over: step {_named(step)}; nothing that it wrote is there any more"


def undo_instead(step: Step, scope: str) -> str:
    """Say how to undo the step before one that cannot be undone."""
    return f"`engramdown undo {step.id}` undoes the one before ({_deed(step)}, {scope})"


def _named(step: Step) -> str:
    return f"{step.id} ({_deed(step)})"


def _deed(step: Step) -> str:
    what = step_title(step)
    return f"{what[:1].lower()}{what[1:]}"
