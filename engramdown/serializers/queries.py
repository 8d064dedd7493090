"""What a question finds, and what a model is shown, as values for JSON.

The rules are those of :mod:`engramdown.serializers.memories`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engramdown.serializers.memories import Folders, entry_data, pick

if TYPE_CHECKING:
    from engramdown import MemoryContext
    from engramdown.context import Found


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
