"""The page: a shell without data, and the fragments that it fetches with its key.

A fragment shows what the API answers: it calls the handlers of the table as a client would, with
the same checks, and draws their data. So it can show and do nothing that the API cannot.
"""

from __future__ import annotations

import contextlib
import json
import re
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, get_origin
from urllib.parse import parse_qs, urlencode

from pydantic import ValidationError

from engramdown.clock import moment, today
from engramdown.engram import KINDS, Kind, Scope
from engramdown.errors import EngramdownError
from engramdown.serializers import folders, proposal_data, step_data
from engramdown.storage import Disk
from engramdown.transcripts import Sessions, find_running
from engramdown.web import views
from engramdown.web.history import newest
from engramdown.web.problems import ProblemError, problem_of
from engramdown.web.routes import Call, ChangeRoute, Form, Method, Reply, Route

if TYPE_CHECKING:
    from jinja2 import Environment

# The pages, by their addresses; GET /health is a route of the API.
PAGES: Final = {
    "inbox": "Inbox",
    "memories": "Memories",
    "timeline": "Timeline",
    "transcripts": "Transcripts",
    "context": "Context",
    "insights": "Insights",
    "doctor": "Health",
    "skills": "Skills",
    "journal": "Journal",
}
_KEYS: Final = (
    ("j k ↓ ↑", "The next one, the one before"),
    ("a →", "Accept"),
    ("d ←", "Decline"),
    ("e", "Edit"),
    ("x", "Select; a and d then decide on all that are selected"),
    ("u", "Take back, undo"),
    ("⏎", "Open, close"),
    ("p v f r", "Pin, verify, forget, restore a memory"),
    ("/", "Search"),
    ("1 … 9", "Go to a page"),
    ("Ctrl+⏎", "Save what is edited"),
    ("Esc", "Leave it as it was"),
    ("?", "These keys"),
)
_STATIC: Final = {
    "htmx.min.js": "text/javascript",
    "hx-csp.min.js": "text/javascript",
    "hx-sse.min.js": "text/javascript",
    "page.js": "text/javascript",
    "page.css": "text/css",
}
_POLICY: Final = (
    "default-src 'none'; script-src 'nonce-{}'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types htmx"
)
_HTML: Final = "text/html; charset=utf-8"
# How many rows come at once.
_ROWS: Final = 100
_MEMORIES: Final = 50
_LINES: Final = 40
_STEPS: Final = 40
_DAYS: Final = 10
_MOST: Final = 12
_MOST_PROPOSALS: Final = 500
_MOST_STEPS: Final = 2_000
# How many lines stand above the one that was asked for.
_ABOVE: Final = 10
# Lines at the end of a session that tell whether a turn runs there.
_LAST: Final = 40
_PLACE: Final = re.compile(r"[\w.-]+#\d+")
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d")
# Stands in what is drawn for the nonce of the answer; no memory can know it.
_NONCE: Final = secrets.token_urlsafe(16)
_SAID: Final = {"accept": "Accepted", "decline": "Declined"}


# ---- drawing ----


@cache
def _templates() -> Environment:
    from jinja2 import Environment, PackageLoader

    loader = PackageLoader("engramdown.web")

    class Templates(Environment):
        def getattr(self, obj: Any, attribute: str) -> Any:  # noqa: ANN401 - of any value
            """Return what a template calls ``obj.attribute``; most often ``obj`` is JSON."""
            if type(obj) is not dict or hasattr(dict, attribute):
                return super().getattr(obj, attribute)
            return obj[attribute] if attribute in obj else self.undefined(obj=obj, name=attribute)

    made = Templates(autoescape=True, loader=loader, trim_blocks=True, lstrip_blocks=True)
    # A filter is called faster than a function.
    asked = "has_words hidden shown verb"
    made.filters |= {name: getattr(views, name) for name in asked.split()}
    made.filters |= {"drawn": _drawn, "when": _when}
    drawn = "WHO SCOPE_NAMES because by_place compared diff lines title"
    made.globals |= {name: getattr(views, name) for name in drawn.split()}
    made.globals |= {"nonce": _NONCE, "hx": _hx, "act": _button}
    return made


def _drawn(data: object, template: str, *more: object, macro: str = "row") -> str:
    """Return what a macro makes of JSON; what has not changed is not drawn again."""
    return _drawn_once(template, macro, json.dumps([data, *more]))


@lru_cache(maxsize=512)
def _drawn_once(template: str, macro: str, data: str) -> str:
    module = _templates().get_template(template).module
    drawn: str = getattr(module, macro)(*json.loads(data))
    return drawn


def _when(at: str) -> str:
    from markupsafe import Markup, escape

    minute = escape(at[:16].replace("T", " "))
    return Markup(f'<time datetime="{escape(at)}">{minute}</time>')  # noqa: S704 - escaped


@lru_cache(maxsize=1024)
def _attribute(name: str, value: str) -> str:
    from markupsafe import escape

    return f' hx-{name.replace("__", ":").replace("_", "-")}="{escape(value)}"'


def _attributes(given: Mapping[str, object]) -> str:
    said = f'hx-nonce="{_NONCE}"'
    for name, value in given.items():
        said += _attribute(name, value if isinstance(value, str) else json.dumps(value))
    return said


def _hx(**given: object) -> str:
    """Return the attributes of a control that htmx serves."""
    from markupsafe import Markup

    return Markup(_attributes(given))  # noqa: S704 - every value was escaped


def _button(key: str, label: str, look: str = "", **given: object) -> str:
    """Return a button with a key, which acts on its row."""
    from markupsafe import Markup

    begin = f'<button class="{look}" data-key="{key}" data-changes'
    asks = _attributes({"target": "closest .row", "swap": "outerHTML", **given})
    end = f'{label} <kbd aria-hidden="true">{key}</kbd></button>'
    return Markup(f"{begin} {asks}>{end}")  # noqa: S704 - key, label and look are the template's


def _draw(template: str, status: int = 200, *, macro: str = "", **values: object) -> Reply:
    """Return a fragment: a template, or what one of its macros writes."""
    found = _templates().get_template(template)
    args: Any = values.get("args")
    html = str(getattr(found.module, macro)(*args) if macro else found.render(values))
    nonce = secrets.token_urlsafe(16)
    return _html(html.replace(_NONCE, nonce), nonce, status)


def _html(html: str, nonce: str, status: int = 200) -> Reply:
    headers = {"Content-Security-Policy": _POLICY.format(nonce)}
    return Reply(html.encode("utf-8", "backslashreplace"), status, headers, _HTML)


def _joined(*replies: Reply) -> Reply:
    """Return several fragments as one, under the nonce of the first."""
    first, *others = replies
    html = first.data
    for other in others:
        html += other.data.replace(_nonce_of(other), _nonce_of(first))
    return replace(first, data=html)


def _nonce_of(reply: Reply) -> bytes:
    policy = reply.headers["Content-Security-Policy"]
    return policy.partition("'nonce-")[2].partition("'")[0].encode()


def _part(target: str, reply: Reply, swap: str = "outerHTML") -> Reply:
    """Return a fragment for another place of the page than the one that asked."""
    head = f'<hx-partial hx-target="{target}" hx-swap="{swap}">'.encode()
    return replace(reply, data=head + reply.data + b"</hx-partial>")


def _toast(text: str, *, bad: bool = False) -> Reply:
    return _draw("parts.j2", macro="toast", args=(text, bad))


# ---- asking the API ----


def _ask(
    call: Call,
    method: Method,
    path: str,
    body: Mapping[str, Any] | None = None,
    *,
    match: str = "",
    **query: Any,  # noqa: ANN401 - what the model of the route takes
) -> Reply:
    """Return what the API answers to a request.

    Raises:
        ProblemError: As the API does.
    """
    for route in call.service.routes:
        found = _pattern(route.path).fullmatch(path) if route.method == method else None
        if found:
            given = {name: value for name, value in query.items() if value not in ("", None)}
            for name, field in route.query.model_fields.items() if route.query else ():
                if get_origin(field.annotation) is list and isinstance(given.get(name), str):
                    given[name] = given[name].split(",")
            headers = {"if-match": match} if match else {}
            inner = replace(
                call,
                path=found.groupdict(),
                query=route.query.model_validate(given) if route.query else None,
                body=route.body.model_validate(body or {}) if route.body else None,
                headers=headers,
            )
            return route.handler(inner)
    raise ProblemError("not-found", f"this server has no {method} {path}")


@cache
def _pattern(path: str) -> re.Pattern[str]:
    """Return the pattern of a route's path."""
    return re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", path))


def _data(call: Call, path: str, **query: Any) -> Any:  # noqa: ANN401 - what the route answers
    return _ask(call, "GET", path, **query).data


class _List(NamedTuple):
    """A page of a list: its items, where the next one begins, and how many there are in all."""

    items: list[dict[str, Any]]
    after: str
    total: int


def _list(call: Call, path: str, **query: Any) -> _List:  # noqa: ANN401 - what the model of the route takes
    reply = _ask(call, "GET", path, **query)
    link = parse_qs(reply.headers.get("Link", "").partition("?")[2].partition(">")[0])
    after = (link.get("after") or link.get("from") or [""])[0]
    return _List(reply.data, after, int(reply.headers.get("X-Total-Count", len(reply.data))))


def _fragment(handler: Callable[[Call], Reply]) -> Callable[[Call], Reply]:
    """Return a handler that shows what is wrong as a fragment, too."""

    def answer(call: Call) -> Reply:
        try:
            return handler(call)
        except (ProblemError, EngramdownError, OSError, ValidationError) as error:
            problem = problem_of(error)
            said = problem.data["detail"]
            if "hx-target" in call.headers and call.headers["hx-target"].endswith("#main"):
                title = problem.data["title"]
                return _draw("trouble.j2", problem.status, title=title, said=said)
            return replace(_toast(said, bad=True), status=problem.status)

    answer.__name__, answer.__doc__ = f"page_{handler.__name__}", handler.__doc__
    return answer


# ---- the shell ----


class Address(Form):
    """What the address of a page may say; the page asks for its fragment with it."""

    q: str = ""
    scope: str = ""
    kind: str = ""
    topic: str = ""
    state: str = ""
    id: str = ""
    since: str = ""
    session: str = ""
    at: str = ""
    message: str = ""


def shell(call: Call) -> Reply:
    """Show the page without data; a browser fetches the rest with its key."""
    return _draw("shell.j2", pages=PAGES, keys=_KEYS, read_only=call.service.is_read_only)


def _asset(name: str, media: str) -> Route:
    file, kind = Path(__file__).parent / "static" / name, f"{media}; charset=utf-8"

    def asset(_: Call) -> Reply:
        """Send a file of the page."""
        return Reply(file.read_bytes(), media=kind)

    return Route("GET", f"/static/{name}", asset, need="nothing", media=kind, is_listed=False)


# ---- the inbox ----


class Inbox(Form):
    """What the inbox is asked for."""

    seen: str = ""
    edit: str = ""


class Listed(Form):
    """The proposals that a page shows."""

    ids: str = ""


class Words(Form):
    """The words that a person wants instead of the proposed ones."""

    text: str | None = None


class Decisions(Words):
    """One decision about some proposals, and whether it has waited for the end of a turn."""

    decision: str
    ids: str = ""
    waited: Literal["", "yes", "enough"] = ""


class Back(Form):
    """The steps to take back, and the proposals that they were about."""

    steps: str
    ids: str


def _pending(call: Call) -> list[dict[str, Any]]:
    return _list(call, "/v1/proposals", limit=_MOST_PROPOSALS).items


def _proposal(call: Call, key: str) -> dict[str, Any] | None:
    with contextlib.suppress(EngramdownError):
        return proposal_data(call.cortex.review.find(key), folders(call.cortex))
    return None


def inbox(call: Call) -> Reply:
    """Show what waits; if nothing does, what was learned since the last visit."""
    waits = _list(call, "/v1/proposals", limit=_MOST_PROPOSALS)
    since = "" if call.query.seen else call.headers.get("x-since", "")
    steps = (
        []
        if waits.items
        else views.learned(_list(call, "/v1/steps", limit=_ROWS, since=since).items)
    )
    turn = _turn(call) if waits.items else ""
    values: dict[str, Any] = {"proposals": waits.items, "total": waits.total, "turn": turn}
    return _draw("inbox.j2", steps=steps, since=since, **values)


def _turn(call: Call) -> str:
    """Return the session in which a turn seems to run, in whichever process, or ``""``."""
    memory = call.cortex.episodes
    # Without transcripts nobody can tell.
    with contextlib.suppress(ProblemError, EngramdownError, OSError):
        info = find_running(Sessions(memory.folder, Disk()), Disk()) if memory else None
        if info is not None:
            first = max(0, info.lines - _LAST)
            last = _data(call, f"/v1/sessions/{info.id}/episodes", **{"from": first})
            return info.id if views.is_in_turn(last, moment()) else ""
    return ""


def running_turn(call: Call) -> Reply:
    """Say whether a turn runs now."""
    return _draw("parts.j2", macro="turn", args=(_turn(call),))


def proposal(call: Call) -> Reply:
    """Show everything about one proposal, or let its words be edited."""
    found = _proposal(call, call.path["id"])
    if found is None:
        return _toast("Somebody else has decided on this one.")
    why: Any = {"taught": ()}
    with contextlib.suppress(ProblemError, EngramdownError):
        why = _data(call, f"/v1/memories/{found['id']}/why")
    return _draw("proposal.j2", macro="detail", args=(found, why, call.query.edit))


def proposal_row(call: Call) -> Reply:
    """Show one proposal in the list."""
    found = _proposal(call, call.path["id"])
    return _row_of(found) if found else _html("", "")


def gone(call: Call) -> Reply:
    """Mark the proposals of the list that somebody decided on elsewhere."""
    left = set(call.cortex.review.ids())
    rows = [
        _part(f"#p-{key}", _elsewhere(key)) for key in call.query.ids.split() if key not in left
    ]
    return _joined(_count(len(left)), *rows)


def accept(call: Call) -> Reply:
    """Accept a proposal, with other words if there are some."""
    return _decide(call, "accept", call.body.text)


def decline(call: Call) -> Reply:
    """Decline a proposal."""
    return _decide(call, "decline", None)


def _decide(call: Call, decision: str, text: str | None) -> Reply:
    key = call.path["id"]
    found = _proposal(call, key)
    if found and (session := _turn(call)):
        rows, told = _later([found], decision, text, session)
        return _joined(*rows, told)
    body = {"text": text} if text is not None else {}
    receipt = _ask(call, "POST", f"/v1/proposals/{key}/{decision}", body).data
    if receipt["action"] == "failed":
        return _toast(receipt["reason"], bad=True)
    rows = _decided(call, [found] if found else [], decision, text)
    return _joined(*rows, _count(call.cortex.review.count()))


def _decided(
    call: Call, found: list[dict[str, Any]], decision: str, text: str | None = None
) -> list[Reply]:
    ids = [each["id"] for each in found]
    steps = [it["id"] for it in views.steps_of(ids, _list(call, "/v1/steps", limit=_MOST).items)]
    return [
        _draw(
            "proposal.j2",
            macro="done",
            args=(each["id"], text or each["text"], _SAID[decision], steps, ids),
        )
        for each in found
    ]


def _later(
    found: list[dict[str, Any]], decision: str, text: str | None, session: str
) -> tuple[list[Reply], Reply]:
    """Return the rows of decisions that wait for the end of a turn, and what asks again."""
    said = f"{_SAID[decision]} when the turn ends"
    rows = [
        _draw("proposal.j2", macro="later", args=(each["id"], text or each["text"], said))
        for each in found
    ]
    asks = {"decision": decision, "waited": "yes"} | ({} if text is None else {"text": text})
    told = _draw("proposal.j2", macro="waits", args=([it["id"] for it in found], asks, session))
    return rows, _part("#later", told, "beforeend")


def resolve(call: Call) -> Reply:
    """Decide on some proposals in one step, once no turn runs."""
    ids, decision, waited = call.body.ids.split(), call.body.decision, call.body.waited
    found = {each["id"]: each for each in _pending(call)}
    wanted = [found[key] for key in ids if key in found]
    session = _turn(call) if wanted and waited != "enough" else ""
    if session and waited:
        return replace(_html("", ""), headers={"HX-Reswap": "none"})
    if session:
        rows, told = _later(wanted, decision, call.body.text, session)
        return _joined(told, *_in_place(wanted, rows))
    rows = [_part(f"#p-{key}", _elsewhere(key)) for key in ids if key not in found]
    done = []
    if wanted:
        answers = [{"id": it["id"], "decision": decision, "text": call.body.text} for it in wanted]
        review = _ask(call, "POST", "/v1/proposals/resolve", {"answers": answers}).data
        answered = zip(wanted, review["receipts"], strict=True)
        failed = {it["id"]: each["reason"] for it, each in answered if each["action"] == "failed"}
        done = [it for it in wanted if it["id"] not in failed]
        left = [it for it in wanted if it["id"] in failed]
        rows += [
            _toast(". ".join([f"{_SAID[decision]} {len(done)}", *failed.values()]), bad=bool(left)),
            *_in_place(done, _decided(call, done, decision, call.body.text)),
            *_in_place(left, map(_row_of, left)),
        ]
    # In the place of what asked, if it was what waited.
    ended = _draw("proposal.j2", macro="waited", args=())
    return _joined(ended, *rows, _count(len(found) - len(done)))


def _in_place(found: list[dict[str, Any]], rows: Iterable[Reply]) -> list[Reply]:
    return [_part(f"#p-{it['id']}", row) for it, row in zip(found, rows, strict=True)]


def _row_of(found: dict[str, Any]) -> Reply:
    return _draw("proposal.j2", macro="row", args=(found,))


def _elsewhere(key: str) -> Reply:
    return _draw("proposal.j2", macro="done", args=(key, "", "Decided elsewhere", (), ()))


def back(call: Call) -> Reply:
    """Take decisions back: the proposals wait again."""
    for step in call.body.steps.split():
        _ask(call, "POST", f"/v1/steps/{step}/undo")
    found = [it for key in call.body.ids.split() if (it := _proposal(call, key))]
    rows = _in_place(found, map(_row_of, found))
    return _joined(_toast("Taken back"), *rows, _count(call.cortex.review.count()))


def waiting(call: Call) -> Reply:
    """Say how many proposals wait."""
    return _draw("parts.j2", macro="number", args=(call.cortex.review.count(),))


def _count(number: int) -> Reply:
    return _part("#waiting", _draw("parts.j2", macro="number", args=(number,)), "innerHTML")


# ---- memories ----


class Filters(Form):
    """Which memories are shown."""

    q: str = ""
    scope: str = ""
    kind: str = ""
    topic: str = ""
    state: str = ""
    after: str = ""
    id: str = ""
    open: str = ""


class Pin(Form):
    """Whether to pin a memory."""

    pin: str = ""


class Edit(Form):
    """A text, and the memory that it was made from."""

    text: str
    etag: str
    base: str
    kind: Kind
    scope: Scope
    keep: str = ""


def memories(call: Call) -> Reply:
    """Show memories by scope, kind and topic, or those that fit a search."""
    query = call.query
    wanted = query.model_dump(exclude={"open", "after", "id"})
    if query.id:
        found = _List([_data(call, f"/v1/memories/{query.id}")], "", 1)
    else:
        found = _list(call, "/v1/memories", **wanted, after=query.after, limit=_MEMORIES)
    values = {
        "entries": found.items,
        "archived": query.state == "archived",
        "more": _more("/page/memories", wanted, found.after),
    }
    if query.after:
        return _draw("memories_rows.j2", **values)
    scopes, known = call.cortex.scopes, {each.topic for each in call.entries()} - {""}
    topics = sorted(scopes.topics() if scopes.reviews or scopes.unread() else known)
    return _draw(
        "memories.j2",
        query=wanted,
        filtered=any(wanted.values()),
        kinds=[(kind, kind.capitalize()) for kind in KINDS],
        topics=[(topic, topic) for topic in topics],
        total=f"{found.total:,} memor{'y' if found.total == 1 else 'ies'}",
        **values,
    )


def _more(path: str, query: Mapping[str, object], after: object) -> str:
    given = {name: value for name, value in {**query, "after": after}.items() if value}
    return f"{path}?{urlencode(given)}" if after else ""


def memory(call: Call) -> Reply:
    """Show everything about one memory."""
    key = call.path["id"]
    why = _data(call, f"/v1/memories/{key}/why")
    return _draw("memory.j2", macro="detail", args=(why, {**why, "steps": why["steps"][:_MOST]}))


def memory_row(call: Call) -> Reply:
    """Show one memory in the list, if it fits the filters."""
    key, query = call.path["id"], call.query
    try:
        entry = _data(call, f"/v1/memories/{key}")
    except (ProblemError, EngramdownError):
        return _html("", "")
    fits = all(
        not getattr(query, name) or entry[name] == getattr(query, name)
        for name in ("scope", "kind", "topic")
    )
    if entry["state"] != "kept" or not fits:
        return _html("", "")
    if query.open:
        return _draw(
            "memory.j2", macro="opened", args=(entry, _data(call, f"/v1/memories/{key}/why"))
        )
    return _row(entry, fresh=True)


def _row(entry: Mapping[str, Any], *, fresh: bool = False) -> Reply:
    args = (entry, entry.get("state") == "archived", False, "", fresh)
    return _draw("memory.j2", macro="row", args=args)


def memory_edit(call: Call) -> Reply:
    """Let a memory be edited where it stands."""
    reply = _ask(call, "GET", f"/v1/memories/{call.path['id']}")
    return _draw("memory.j2", macro="edit", args=(reply.data, reply.headers["ETag"]))


def memory_save(call: Call) -> Reply:
    """Save a text, or show what somebody else made of the memory meanwhile."""
    key, body = call.path["id"], call.body
    if body.keep == "both":
        return _keep_both(call)
    try:
        saved = _ask(
            call, "PATCH", f"/v1/memories/{key}", {"text": body.text}, match=body.etag
        ).data
    except ProblemError as problem:
        if "theirs" not in problem.data:
            raise
        theirs, etag = problem.data["theirs"], problem.headers.get("ETag", "")
        args = (
            key,
            problem.data["id"] or key,
            body.base,
            theirs,
            body.text,
            etag,
            body.kind,
            body.scope,
        )
        return _draw("memory.j2", 412, macro="conflict", args=args)
    return _joined(_row(_data(call, f"/v1/memories/{saved['id']}")), _toast("Saved"))


def _keep_both(call: Call) -> Reply:
    """Remember the text that was typed beside the memory as somebody else left it."""
    body, rows = call.body, []
    receipt = _ask(
        call, "POST", "/v1/memories", {"text": body.text, "kind": body.kind, "scope": body.scope}
    ).data
    for key in (call.path["id"], receipt["id"]):
        with contextlib.suppress(ProblemError, EngramdownError):
            entry = _data(call, f"/v1/memories/{key}")
            rows += [_row(entry, fresh=True)] if entry["state"] == "kept" else []
    return _joined(*rows, _toast("Kept both" if len(rows) > 1 else "Remembered"))


def memory_pin(call: Call) -> Reply:
    """Pin a memory, or take the pin out."""
    is_pinned = bool(call.body.pin)
    return _note(
        call, "pin", {"pinned": is_pinned}, "Pinned" if is_pinned else "Not pinned any more"
    )


def memory_verify(call: Call) -> Reply:
    """Confirm a memory."""
    return _note(call, "verify", {}, "Verified")


def _note(call: Call, what: str, body: Mapping[str, Any], said: str) -> Reply:
    path = f"/v1/memories/{call.path['id']}"
    etag = _ask(call, "GET", path).headers["ETag"]
    entry = _ask(call, "POST", f"{path}/{what}", body, match=etag).data
    return _joined(_row(entry), _toast(said))


def memory_forget(call: Call) -> Reply:
    """Retire a memory; one key brings it back."""
    path = f"/v1/memories/{call.path['id']}"
    now = _ask(call, "GET", path)
    (gone,) = _ask(call, "DELETE", path, match=now.headers["ETag"]).data["forgotten"]
    return _draw("memory.j2", macro="gone", args=({**now.data, "archive": gone["id"]},))


def memory_restore(call: Call) -> Reply:
    """Bring a retired memory back."""
    entry = _ask(call, "POST", f"/v1/memories/{call.path['id']}/restore").data
    return _joined(_row(entry), _toast("Restored"))


# ---- the timeline ----


class Since(Form):
    """Since when."""

    since: str = ""
    after: str = ""


def timeline(call: Call) -> Reply:
    """Show every change of memory, the newest first, or those since a day or a commit."""
    since, after = call.query.since.strip(), call.query.after
    found, changes, name = _List([], "", 0), [], ""
    if since and not _DAY.match(since):
        data = _data(call, "/v1/diff", rev=since)
        name, changes = data["from"]["id"][:7], [views.Changed.of(each) for each in data["changes"]]
    else:
        found = _list(call, "/v1/steps", limit=_STEPS, after=after, since=since)
    more = _more("/page/timeline", {"since": since}, found.after)
    if after:
        return _draw("timeline_rows.j2", steps=found.items, more=more)
    return _draw(
        "timeline.j2", since=since, changes=changes, name=name, steps=found.items, more=more
    )


def undo(call: Call) -> Reply:
    """Undo a step."""
    step = _ask(call, "POST", f"/v1/steps/{call.path['id']}/undo").data["undone"]
    return _joined(_draw("parts.j2", macro="undone", args=(step,)), _toast("Undone"))


# ---- transcripts ----


class Place(Form):
    """A search, or a place in a transcript."""

    q: str = ""
    session: str = ""
    at: int = 0
    after: str = ""
    before: int = 0


def transcripts(call: Call) -> Reply:
    """Show the sessions, the lines that fit a search, or a session."""
    if call.query.session:
        return _session(call)
    asked = call.query.q.strip()
    place = asked if _PLACE.fullmatch(asked) else ""
    hits, found = [], _List([], "", 0)
    if asked and not place:
        hits = _data(call, "/v1/recall", q=asked, limit=_ROWS, **{"in": ["episodes"]})["episodes"]
    elif not asked:
        found = _list(call, "/v1/sessions", limit=_ROWS, after=call.query.after)
    more = _more("/page/transcripts", {}, found.after)
    values: dict[str, Any] = {"sessions": found.items, "more": more}
    return _draw("transcripts.j2", asked=asked, place=place, hits=hits, **values)


def _session(call: Call) -> Reply:
    query, path = call.query, f"/v1/sessions/{call.query.session}"
    info = _data(call, path)
    first = int(query.after) if query.after.isdecimal() else max(0, query.at - _ABOVE)
    until = first + _LINES
    if query.before:
        first, until = max(0, query.before - _LINES), query.before
    found = _list(call, f"{path}/episodes", **{"from": first}, limit=until - first)
    here = f"/page/transcripts?session={info['id']}"
    values = {
        "info": info,
        "turns": views.paired(found.items),
        "excluded": {**info["excluded"], "lines": frozenset(info["excluded"]["lines"])},
        "before": f"{here}&before={first}" if first and not query.after else "",
        "more": f"{here}&after={found.after}" if found.after and not query.before else "",
    }
    if query.after or query.before:
        return _draw("session_rows.j2", **values)
    return _draw("session.j2", at=query.at, **values)


def session_card(call: Call) -> Reply:
    """Show what a session was about; for that, all of it must be read."""
    card = _data(call, f"/v1/sessions/{call.path['id']}/card")
    return _draw("parts.j2", macro="card", args=(card,))


def whole_line(call: Call) -> Reply:
    """Show all of a line that is shown cut."""
    path = f"/v1/sessions/{call.path['id']}/episodes/{call.path['seq']}"
    return _draw("parts.j2", macro="whole", args=(_data(call, path, whole=True)["text"],))


class Withdrawal(Form):
    """What is done with a line."""

    action: Literal["exclude", "include", "redact"]
    line: int
    sure: str = ""


def withdraw(call: Call) -> Reply:
    """Keep a line out of recall, or empty it for ever once that is confirmed."""
    session, body = call.path["id"], call.body
    asks = body.action == "redact" and not body.sure
    order = {"lines": [body.line], "dry_run": asks}
    (done,) = _ask(call, "POST", f"/v1/sessions/{session}/{body.action}", order).data["sessions"]
    macro = "sure" if asks else "withdrawn"
    return _draw("parts.j2", macro=macro, args=(session, body.line, done))


# ---- the rest ----


class Message(Form):
    """A message to a model."""

    message: str = ""


def context(call: Call) -> Reply:
    """Show what a model would get with a message."""
    message = call.query.message
    data = _data(call, "/v1/context", message=message)
    texts = {entry.id: entry.text for entry in call.cortex.entries()}
    return _draw("context.j2", query={"message": message}, data=data, texts=texts)


def insights(call: Call) -> Reply:
    """Show how memory grows and what is used."""
    stats, now = _data(call, "/v1/stats"), today()
    # Not page by page: what is counted are all of them.
    entries = {each.id: each for each in call.entries()}
    steps = [step_data(step, store.scope) for step, store in newest(call)[:_MOST_STEPS]]
    times = Counter[str]()
    for key, count in stats["used"]["times"].items():
        times[key.partition("/")[2]] += count
    most = [each for each in times.most_common() if each[0] in entries][:10]
    never = [entries[key] for key in stats["used"]["never"] if key in entries]
    known = [{"kind": it.kind, "source": it.source, "ts": it.ts} for it in entries.values()]
    days = [each["ts"] for each in known]
    sizes = {
        "Tokens of context": stats["context_tokens"],
        "Steps in the journal": stats["history_steps"],
        "Bytes of journal": stats["history_bytes"],
        "Sessions": stats["sessions"],
        "Lines of transcripts": stats["episodes"],
        "Bytes of transcripts": stats["episode_bytes"],
    }
    ops = {"accepted": "accept", "declined": "decline", "undone": "undo"}
    weeks = {name: views.weekly(views.decided(steps, op), now) for name, op in ops.items()}
    most_a_week = max(count for counts in weeks.values() for count in counts.values())
    return _draw(
        "insights.j2",
        stats=stats,
        growth=[(name, views.growth(known, name, now)) for name in ("kind", "source")],
        learned=views.columns(views.weekly(days, now)),
        weeks=[(name, views.columns(each, most=most_a_week)) for name, each in weeks.items()],
        by_kind=views.rows_of(stats["by_kind"]),
        by_source=views.rows_of(stats["by_source"], views.WHO),
        by_basis=views.rows_of(stats["by_basis"]),
        by_age=views.rows_of(stats["by_age"]),
        by_file=views.rows_of(stats["by_file"]),
        most=[(entries[key], count) for key, count in most],
        never=never[:10],
        never_count=len(never),
        sizes=sizes.items(),
    )


def health(call: Call) -> Reply:
    """Show what is wrong, and how it is mended."""
    return _draw("health.j2", data=_data(call, "/v1/doctor"))


class Mending(Form):
    """Whether to mend, or to show what would be."""

    sure: str = ""


def mend(call: Call) -> Reply:
    """Show what can be mended, and mend it once that is confirmed."""
    data = _ask(call, "POST", "/v1/doctor/mend", {"dry_run": not call.body.sure}).data
    return _draw("parts.j2", macro="mending", args=(data,))


def skills(call: Call) -> Reply:
    """Show the skills and how often each was used."""
    return _draw("skills.j2", skills=_data(call, "/v1/skills"))


def skill(call: Call) -> Reply:
    """Show the text of a skill."""
    data = _data(call, f"/v1/skills/{call.path['label']}", scope=call.query.scope)
    return _draw("parts.j2", macro="whole", args=(data["text"],))


def journal(call: Call) -> Reply:
    """Show the pages of the journal, the newest first."""
    found = _list(call, "/v1/journal", limit=_DAYS, after=call.query.after)
    days = [_data(call, f"/v1/journal/{each['date']}") for each in found.items]
    return _draw("journal.j2", days=days, more=_more("/page/journal", {}, found.after))


def _page(path: str, handler: Callable[[Call], Reply], query: type[Form] | None = None) -> Route:
    shows = _fragment(handler)
    return Route(
        "GET", f"/page/{path}", shows, need="person", query=query, media=_HTML, is_listed=False
    )


def _act(path: str, handler: Callable[[Call], Reply], body: type[Form] | None = None) -> Route:
    does = _fragment(handler)
    return ChangeRoute("POST", f"/page/{path}", does, body=body, media=_HTML, is_listed=False)


ROUTES: Final = (
    *(
        Route("GET", path, shell, need="nothing", query=Address, media=_HTML, is_listed=False)
        for path in ("/", *(f"/{name}" for name in PAGES))
    ),
    *(_asset(name, media) for name, media in _STATIC.items()),
    _page("waiting", waiting),
    _page("inbox", inbox, Inbox),
    _page("inbox/row/{id}", proposal_row, Filters),
    _page("inbox/gone", gone, Listed),
    _page("inbox/turn", running_turn),
    _page("inbox/{id}", proposal, Inbox),
    _act("inbox/resolve", resolve, Decisions),
    _act("inbox/back", back, Back),
    _act("inbox/{id}/accept", accept, Words),
    _act("inbox/{id}/decline", decline, Form),
    _page("memories", memories, Filters),
    _page("memories/row/{id}", memory_row, Filters),
    _page("memories/{id}", memory),
    _page("memories/{id}/edit", memory_edit),
    _act("memories/{id}/save", memory_save, Edit),
    _act("memories/{id}/pin", memory_pin, Pin),
    _act("memories/{id}/verify", memory_verify, Form),
    _act("memories/{id}/forget", memory_forget, Form),
    _act("memories/{id}/restore", memory_restore, Form),
    _page("timeline", timeline, Since),
    _act("timeline/{id}/undo", undo, Form),
    _page("transcripts", transcripts, Place),
    _page("transcripts/{id}/card", session_card),
    _page("transcripts/{id}/whole/{seq}", whole_line),
    _act("transcripts/{id}/withdraw", withdraw, Withdrawal),
    _page("context", context, Message),
    _page("insights", insights),
    _page("doctor", health),
    _act("doctor/mend", mend, Mending),
    _page("skills", skills),
    _page("skills/{label}", skill, Filters),
    _page("journal", journal, Since),
)
