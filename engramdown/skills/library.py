"""The skills of a project, of all projects, and built in: which one counts, what may be written.

A project's skill wins over the global one with the same label, and that over a built-in one, unless
it is broken and the other is not. All are listed, and a folder that cannot be read hides no other.
Built-in skills are never written to, no secret is written or repeated, and a change applies only to
what was read: what somebody wrote meanwhile is not lost.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Literal, NamedTuple

from engramdown.engram import Scope
from engramdown.errors import SkillChangedError, SkillNotFoundError, SkillRefusedError, StoreError
from engramdown.markdown.front_matter import FrontMatter, parse_front_matter
from engramdown.secrets.redaction import find_secrets
from engramdown.settings import Settings
from engramdown.skills.files import FILE
from engramdown.skills.imports import Content, Incoming, files_at, page_of
from engramdown.skills.store import Skill, SkillScope, SkillStore, built_in
from engramdown.skills.validation import check_description, check_label, check_text
from engramdown.storage.disk import disk_of
from engramdown.storage.usage import Usage, Used

# Is given the present page and returns the new one, or raises.
Change = Callable[[FrontMatter], FrontMatter]


# Is given a scope and its folder, and starts it.
Start = Callable[[Scope, Path], object]

# What becomes of a skill that is to be brought in.
Action = Literal["added", "unchanged", "refused", "failed"]


class Known(NamedTuple):
    """A skill, and how it relates to those with the same label in other scopes.

    Attributes:
        skill: The skill.
        counts: Whether it is the one that is meant by its label.
        other: The scope of the one that it takes the place of, or that takes its place, or ``""``.
    """

    skill: Skill
    counts: bool
    other: SkillScope | Literal[""] = ""


class Fate(NamedTuple):
    """What becomes of a skill that is imported.

    Attributes:
        incoming: The skill.
        action: ``added``, ``unchanged``, ``refused`` or ``failed``.
        reason: Why it is refused or failed.
        path: The folder that it gets.
    """

    incoming: Incoming
    action: Action
    reason: str = ""
    path: Path | None = None


class Skills:
    """The skills of some scopes.

    Attributes:
        stores: A store for each scope, the one that wins first.
        troubles: Which folders could not be read when it was last looked into them, and why.
    """

    def __init__(self, stores: Iterable[SkillStore], start: Start | None = None) -> None:
        """Look into ``stores``, the project's first; ``start`` a scope that is not there yet."""
        self.stores = tuple(stores)
        self._start = start
        self.troubles: list[str] = []

    def labels(self) -> set[str]:
        """Return the labels of the skills that are not built in, without reading any."""
        found: set[str] = set()
        for store in self.stores:
            with contextlib.suppress(StoreError):  # Reading them reports it.
                found.update(store.labels() if store.scope != "builtin" else ())
        return found

    def known(
        self,
        only: SkillScope | None = None,
        *,
        briefly: bool = False,
        labels: Collection[str] | None = None,
    ) -> list[Known]:
        """Return every skill, of one scope or of all, the project's first.

        Args:
            only: The scope.
            briefly: Look for no more than errors, which takes less time.
            labels: Read only those with these labels, and those that are built in.
        """
        self.troubles = []
        found: list[Skill] = []
        for store in self.stores:
            try:
                only_these = None if store.scope == "builtin" else labels
                found += store.skills(briefly=briefly, labels=only_these)
            except StoreError as error:
                self.troubles.append(str(error))
        # The scopes of each label, the one that wins first.
        there: dict[str, list[SkillScope]] = {}
        # One that is broken comes last: it takes the place of none.
        for skill in sorted(found, key=lambda skill: not skill.is_fit):
            if skill.is_there:
                there.setdefault(skill.label, []).append(skill.scope)
        known = []
        for skill in found:
            scopes = there.get(skill.label, [])
            others = [scope for scope in scopes if scope != skill.scope]
            counts = skill.scope in scopes[:1] or not scopes
            known.append(Known(skill, counts, others[0] if others else ""))
        return [each for each in known if only in (None, each.skill.scope)]

    def read(self, label: str, scope: SkillScope | None = None) -> Skill:
        """Return the skill with a label.

        Raises:
            SkillNotFoundError: If there is none.
            StoreError: If it cannot be read.
        """
        self.troubles = []
        for store in self._stores(scope):
            if label in self._labels(store):
                with contextlib.suppress(SkillNotFoundError):  # an empty folder
                    return store.read(label)
        if self.troubles:
            raise StoreError(self.troubles[0])
        import difflib

        labels = {each for store in self.stores for each in self._labels(store)} - {label}
        near = difflib.get_close_matches(label, sorted(labels), n=1)
        raise SkillNotFoundError(label, near[0] if near else "")

    def drafted(self, label: str, description: str, body: str) -> FrontMatter:
        """Return the page of a new skill.

        Args:
            label: What it is to be called.
            description: What it does and when.
            body: How it is done; a heading if it is empty.

        Raises:
            InvalidSkillError: If it cannot be one.
            SkillRefusedError: If a text holds a secret.
        """
        check_label(label)
        heading = label.replace("-", " ").capitalize()
        page = parse_front_matter(f"---\nname: {label}\n---\n")
        page = page.with_text("name", label)
        page = page.with_text("description", check_description(description))
        page = page.with_body(check_text("body", body) or f"# {heading}\n")
        _refuse_secrets(page)
        return page

    def create(self, scope: Scope, label: str, page: FrontMatter) -> Skill:
        """Write a new skill; a scope that is not there yet is started first.

        Raises:
            SkillExistsError: If there is one.
            StoreError: If it could not be written.
        """
        return self._started(scope).create(label, page)

    def fate_of(self, scope: Scope, each: Incoming) -> Fate:
        """Return what importing a skill would do; nothing is written."""
        if each.problem:
            return Fate(each, "refused", each.problem)
        (store,) = self._stores(scope)
        home = store.path(each.label).parent
        if not store.others(each.label) and store.load(each.label) is None:
            return Fate(each, "added", path=home)
        there, _ = files_at(home)
        same = {name: content.data for name, content in each.files.items() if name != FILE}
        now = {name: content.data for name, content in there.items() if name != FILE}
        if same == now and page_of(there).render() in (each.page.render(), _noted(each).render()):
            return Fate(each, "unchanged", path=home)
        aside = f"`engramdown skills delete {each.label}` puts it aside"
        return Fate(each, "refused", f"{home} is there already; {aside}")

    def bring_in(self, scope: Scope, each: Incoming) -> Fate:
        """Import a skill, all of it or nothing; the fate says what is wrong.

        Args:
            scope: Where it is to hold.
            each: The skill.
        """
        try:
            fate = self.fate_of(scope, each)
            if fate.action != "added":
                return fate
            store = self._started(scope)
            page = _noted(each).render().encode("utf-8", "surrogateescape")
            files = {**each.files, FILE: Content(page)}
            store.place(each.label, files)
        except StoreError as error:
            return Fate(each, "failed", str(error))
        return fate

    def edit(self, skill: Skill, change: Change) -> Skill:
        """Change a skill that was read, and return the result.

        Raises:
            SkillChangedError: If somebody changed meanwhile what is to be replaced.
            SkillRefusedError: If a new text holds a secret.
            StoreError: If it could not be written.
        """
        (store,) = self._stores(skill.scope)
        return store.edit(skill.label, lambda page: changed(page, change))

    def delete(self, skill: Skill) -> Path:
        """Put a skill aside, all of it, and return where it is kept: in ``skills-replaced/``.

        Raises:
            SkillNotFoundError: If it is not there any more.
            StoreError: If it is built in, a link, or could not be moved.
        """
        if skill.scope == "builtin":
            raise StoreError(
                f"{skill.label} comes with the program and stays; a skill of yours with this label "
                "takes its place"
            )
        (store,) = self._stores(skill.scope)
        return store.delete(skill.label)

    def restore(self, scope: Scope, label: str) -> Skill:
        """Bring back the skill of a label that was put aside last.

        Raises:
            SkillExistsError: If there is one of this label.
            SkillNotFoundError: If none is kept.
            StoreError: If it could not be moved.
        """
        (store,) = self._stores(scope)
        return store.restore(label)

    def uses(self, before: str = "") -> dict[str, Used]:
        """Return how often each skill was read by a model, by scope and label: ``project/charts``.

        Uses of built-in skills are counted in the global scope.

        Args:
            before: Count only what was read before this moment, in UTC.
        """
        found: dict[str, Used] = {}
        for store in self.stores:
            if store.scope != "builtin":
                found |= Usage(store.root).counts(before)
        return found

    def tidy(self) -> None:
        """Sweep up what a crash left.

        Raises:
            StoreError: If it cannot be put in order.
        """
        for store in self.stores:
            if store.scope != "builtin":
                store.tidy()

    def _started(self, scope: Scope) -> SkillStore:
        (store,) = self._stores(scope)
        if self._start is not None and not store.root.exists():
            self._start(scope, store.root)
        return store

    def _stores(self, scope: SkillScope | None) -> list[SkillStore]:
        return [store for store in self.stores if scope in (None, store.scope)]

    def _labels(self, store: SkillStore) -> list[str]:
        """Return the labels of a scope; a folder that cannot be read is a trouble."""
        try:
            return store.labels()
        except StoreError as error:
            self.troubles.append(str(error))
            return []


def _noted(each: Incoming) -> FrontMatter:
    """Return the page of a skill with where it comes from, unless it has notes of its own."""
    return each.page.with_mapping("metadata", {"imported-from": source_for_git(each.source)})


def source_for_git(source: str) -> str:
    """Return a place without the folders of this machine: what is written is for git."""
    path = Path(source)
    with contextlib.suppress(ValueError, RuntimeError):
        return f"~/{path.relative_to(Path.home()).as_posix()}"
    return "/".join(path.parts[-2:])


def open_skills(
    places: Iterable[tuple[Scope, Path]], settings: Settings, start: Start | None = None
) -> Skills:
    """Open the skills of the scopes at ``places``, the one that wins first; then built-in ones.

    Args:
        places: Each scope with its folder.
        settings: What was configured.
        start: Starts a scope that is not there yet, before a skill is written to it.
    """
    stores = []
    for scope, root in places:
        own = settings.of(scope)
        stores.append(SkillStore(root, scope, disk=disk_of(own), lock_timeout=own.lock_timeout))
    return Skills([*stores, built_in()], start)


def with_description(read: Skill, description: str) -> Change:
    """Return the change to another description, of a skill as it was ``read``.

    Raises:
        InvalidSkillError: If it cannot be one.
    """
    text = check_description(description)
    return _replacing(
        read,
        text,
        lambda page: page.text("description"),
        lambda page: page.with_text("description", text),
    )


def with_body(read: Skill, body: str) -> Change:
    """Return the change to another body, of a skill as it was ``read``.

    Raises:
        InvalidSkillError: If it cannot be written.
    """
    check_text("body", body)
    return _replacing(read, body, lambda page: page.body, lambda page: page.with_body(body))


def with_text(read: Skill, text: str) -> Change:
    """Return the change to another text of all of it, of a skill as it was ``read``."""
    return _replacing(read, text, FrontMatter.render, lambda _: parse_front_matter(text))


def _replacing(read: Skill, new: str, part: Callable[[FrontMatter], str], write: Change) -> Change:
    """Return a change that is refused if somebody changed a part of the page meanwhile."""

    def change(page: FrontMatter) -> FrontMatter:
        if part(page) not in (part(read.page), new):
            raise SkillChangedError(str(read.path))
        return write(page)

    return change


def changed(page: FrontMatter, change: Change) -> FrontMatter:
    """Return a page with a change that may be written.

    Raises:
        SkillChangedError: If somebody changed meanwhile what is to be replaced.
        SkillRefusedError: If a new text holds a secret.
    """
    after = change(page)
    _refuse_secrets(after, page)
    return after


def _refuse_secrets(page: FrontMatter, before: FrontMatter | None = None) -> None:
    """Refuse a page with a secret that was not there before."""
    known = Counter(value for value, _ in _secrets(before)) if before else Counter[str]()
    for value, kind in _secrets(page):
        known[value] -= 1
        if known[value] < 0:
            raise SkillRefusedError(kind)


def _secrets(page: FrontMatter) -> list[tuple[str, str]]:
    text = page.render()
    return [(text[each.start : each.end], each.kind) for each in find_secrets(text)]
