"""A store without files, to show that the seam holds: what a scope can do, and nothing more."""

from __future__ import annotations

from collections.abc import Iterable

from engramdown.engram import Confidence, Engram, Kind, Scope, Source, fact_key, slug
from engramdown.errors import InvalidEngramError
from engramdown.hippocampus.entry import Entry, by_prefix
from engramdown.tokens import estimate_tokens


class MemoryStore:
    """The memories of one scope in two lists, for as long as the process runs."""

    def __init__(self, scope: Scope = "project") -> None:
        """Begin with none."""
        self._scope: Scope = scope
        self._kept: list[Entry] = []
        self._retired: list[Entry] = []
        self._made = 0

    def recall_identity(self) -> list[Entry]:
        return self._of("profile")

    def recall_rules(self) -> list[Entry]:
        return self._of("always", "never", "when")

    def recall_lessons(self, token_budget: int | None = None) -> list[Entry]:
        lessons, left = self._of("lesson"), token_budget
        if left is None:
            return lessons
        kept: list[Entry] = []
        for lesson in reversed(lessons):
            cost = estimate_tokens(lesson.text) + 1
            if cost <= left:
                kept.insert(0, lesson)
                left -= cost
        return kept

    def recall_topic(self, slug: str) -> list[Entry]:
        wanted = _slug(slug)
        return [entry for entry in self._of("lesson") if entry.topic == wanted]

    def recall_scratchpad_wisdom(self) -> list[Entry]:
        wise = self._of("when", "lesson")
        return [entry for entry in wise if "scratchpad" in f"{entry.topic} {entry.text}".lower()]

    def encode_rule(
        self, text: str, kind: Kind, confidence: Confidence = "medium", source: Source = "llm"
    ) -> Entry:
        if kind not in ("always", "never", "when"):
            raise InvalidEngramError.not_one_of("kind", kind, ("always", "never", "when"))
        return self._keep(Engram(text, kind, self._scope, confidence, source=source))

    def encode_lesson(self, text: str, topic: str = "", source: Source = "llm") -> Entry:
        return self._keep(Engram(text, "lesson", self._scope, topic=topic, source=source))

    def rewrite_identity(self, entries: Iterable[str]) -> list[Entry]:
        facts = [Engram(text, "profile", self._scope, "high", source="user") for text in entries]
        return [self._keep(fact) for fact in facts]

    def entries(self) -> list[Entry]:
        return list(self._kept)

    def forget(self, entry_id: str) -> Entry:
        entry = by_prefix(entry_id, self._kept, lambda each: each.id, "memory")
        self._kept.remove(entry)
        self._retired.append(entry)
        return entry

    def restore(self, entry_id: str) -> Entry:
        entry = by_prefix(entry_id, self._retired, lambda each: each.id, "the archive")
        self._retired.remove(entry)
        self._make_way(entry)
        self._kept.append(entry)
        return entry

    def update(self, entry_id: str, text: str) -> Entry:
        old = by_prefix(entry_id, self._kept, lambda each: each.id, "memory")
        new = old._replace(text=Engram(text, old.kind, old.scope).text)
        if fact_key(old.text) != fact_key(text):
            self._make_way(new)
        self._kept[self._kept.index(old)] = new
        return new

    def _of(self, *kinds: Kind) -> list[Entry]:
        return [entry for entry in self._kept if entry.kind in kinds]

    def _keep(self, engram: Engram) -> Entry:
        said = Entry(id="", text=engram.text, kind=engram.kind, scope=engram.scope).fold
        for entry in self._of(engram.kind):
            if entry.fold == said:
                return entry
        self._made += 1
        entry = Entry(
            id=f"{self._made:08}",
            text=engram.text,
            kind=engram.kind,
            scope=engram.scope,
            confidence=engram.confidence,
            topic=slug(engram.topic) if engram.topic else "",
            source=engram.source,
            basis="told" if engram.source == "user" else "inferred",
        )
        self._make_way(entry)
        self._kept.append(entry)
        return entry

    def _make_way(self, fact: Entry) -> None:
        key = fact_key(fact.text) if fact.kind == "profile" else ""
        for entry in self._of("profile"):
            if key and fact_key(entry.text) == key:
                self.forget(entry.id)


def _slug(topic: str) -> str:
    return slug(topic)
