"""What a question finds, and what a model is shown, as values for JSON.

The rules are those of :mod:`engramdown.serializers.memories`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from engramdown.serializers.memories import Folders, entry_data, pick

if TYPE_CHECKING:
    from engramdown import MemoryContext, WorkingContext
    from engramdown.context import Found

# The parts of a prompt that are texts.
_PARTS: Final = "soul skills history journal notes relevant"


def recall_data(found: Found, folders: Folders) -> dict[str, Any]:
    """Return what was found in all sources; the journal and notes only if they have a match."""
    from engramdown.serializers.transcripts import hit_data, match_data, note_data

    memories = []
    for entry in found.memories:
        newer = {"newer": found.newer[entry.id]} if entry.id in found.newer else {}
        memories.append({**entry_data(entry, folders), **newer})
    data = {"memories": memories, "episodes": [hit_data(hit) for hit in found.episodes]}
    if found.journal:
        data["journal"] = [match_data(match) for match in found.journal]
    if found.working:
        data["notes"] = [note_data(match) for match in found.working]
    return data


def context_data(made: MemoryContext, folders: Folders) -> dict[str, Any]:
    """Return what a model sees of memory, section by section, and what was left out."""
    from engramdown.tokens import estimate_tokens

    return {
        "text": str(made),
        "tokens": estimate_tokens(made),
        "sections": [
            {
                **pick(section, "name heading budget tokens"),
                "shown": [entry.id for entry in section.shown],
                "left_out": [entry_data(entry, folders) for entry in section.left_out],
                "text": section.text,
            }
            for section in made.sections
        ],
    }


def prompt_data(made: WorkingContext, prompt: object) -> dict[str, Any]:
    """Return what a model sees next of a conversation.

    Args:
        made: All of it.
        prompt: The same in the form that was asked for: a text, or messages for a provider.
    """
    return {
        **pick(made, "session budget tokens"),
        "prompt": prompt,
        **pick(made, _PARTS),
        "sections": [pick(each, "name heading tokens text") for each in made.sections],
        "messages": [
            {**pick(each, "source role tokens"), "whole": each.is_whole, "text": each.text}
            for each in made.messages
        ],
        "tail": made.tail,
        "dropped": [each._asdict() for each in made.dropped],
        "degraded": made.degraded,
    }
