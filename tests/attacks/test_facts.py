"""What a person says of themselves stands, whoever says otherwise, through whichever door."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import pytest
from anthropic.types.beta import BetaMemoryTool20250818InsertCommand

from engramdown import Cortex, Engram
from engramdown.cortex.session import Session
from engramdown.engram import CONFIDENCES, SOURCES, Confidence, Source
from engramdown.errors import PutRefusedError
from engramdown.importers.migration import Migration
from engramdown.integrations.anthropic_memory import MemoryTool
from engramdown.integrations.chat.endpoint import Heard, Reply, ToolCall
from engramdown.integrations.chat.turns import Chat, Listener
from engramdown.integrations.langgraph import MemoryStore
from engramdown.integrations.memory_folder import MemoryFolder
from tests.cli.conftest import Runner
from tests.cortex.person import Person
from tests.integrations.claude_code.agent import Agent
from tests.mcp.conftest import beside
from tests.mcp.conftest import run as waited
from tests.sleep.test_sleep import Model, record

Door = Callable[[Cortex, str], object]

THEIRS: Final = {
    "by-hand": "- Name: Ada\n",
    "pinned": "- Name: Ada <!-- id:k3v9q2ht confidence:low source:llm pin:yes -->\n",
    "verified": "- Name: Ada <!-- id:k3v9q2ht confidence:low source:llm basis:verified -->\n",
    "in-bold": "- **Name:** Ada\n",
    "a-paragraph": "Name: Ada\n",
}


def proposed(cortex: Cortex, fact: str) -> None:
    """Propose it as what it cannot be."""
    word = Engram(fact, "profile", "global", "high", source="user", basis="verified")
    cortex.propose(word)


def called(cortex: Cortex, fact: str) -> None:
    """Let a model call the tool."""
    said = cortex.use_tool("memorize", {"text": fact, "kind": "profile", "scope": "project"})
    assert said.text.startswith("Not remembered yet. It waits in pending.md as "), said


def called_in_a_turn(cortex: Cortex, fact: str) -> None:
    """Let a model call the tool in a conversation in which the user says it."""
    with cortex.session() as session:
        session.begin_turn(f"Remember this of me: {fact}")
        given = json.dumps({"text": fact, "kind": "profile", "scope": "global"})
        cortex.use_tool("memorize", given, session)
        session.end_turn("Noted.")


def over_mcp(cortex: Cortex, fact: str) -> None:
    """Let a client call the tool."""

    async def work() -> None:
        async with beside(cortex) as client:
            given = {"text": fact, "kind": "profile", "scope": "global"}
            said = await client.call_tool("memorize", given)
        assert "It waits in pending.md" in str(said.content)

    waited(work())


class _Script:
    """A model that remembers something and is done."""

    def __init__(self, fact: str) -> None:
        given = json.dumps({"text": fact, "kind": "profile", "scope": "global"})
        call = ToolCall("c1", "memorize", given)
        self._answers = [Reply("", (call,), "tool_calls", 1, 1), Reply("Done.", (), "stop", 1, 1)]

    def ask(self, messages: object, tools: object, heard: Heard) -> Reply:
        """Return the next answer."""
        del messages, tools, heard
        return self._answers.pop(0)


def in_chat(cortex: Cortex, fact: str) -> None:
    """Let the model of a chat remember it."""
    with cortex.session() as session:
        Chat(cortex, session, _Script(fact), Listener()).turn("Who am I?")


PAGE: Final = "/memories/profile.md"


def into_the_folder(cortex: Cortex, fact: str) -> None:
    """Let a model write it into a page with Anthropic's tool."""
    given: Any = {"path": PAGE, "insert_line": 0, "insert_text": f"- {fact}\n"}
    tool = MemoryTool(cortex, "global")
    tool.execute(BetaMemoryTool20250818InsertCommand(command="insert", **given))


def over_their_line(cortex: Cortex, fact: str) -> None:
    """Let a model change the very line."""
    given = {"command": "str_replace", "path": PAGE, "old_str": "Ada", "new_str": fact[-3:]}
    assert not MemoryFolder(cortex, "global").run(given).is_error


def of_another_fact(cortex: Cortex, fact: str) -> None:
    """Let a model make it of a memory of its own."""
    cortex.encode(Engram("Pet: Rex", "profile", "global"))
    given = {"command": "str_replace", "path": PAGE, "old_str": "Pet: Rex", "new_str": fact}
    assert not MemoryFolder(cortex, "global").run(given).is_error


def into_langgraph(cortex: Cortex, fact: str) -> None:
    """Put it under a key."""
    with pytest.raises(PutRefusedError, match="waits for the user's yes"):
        MemoryStore(cortex).put(("global", "profile"), "k1", {"text": fact})


def over_langgraph(cortex: Cortex, fact: str) -> None:
    """Put it where something else was put before."""
    store = MemoryStore(cortex)
    mode, cortex.mode = cortex.mode, "autopilot"
    store.put(("global", "profile"), "k1", {"text": "Pet: Rex"})
    cortex.mode = mode
    with pytest.raises(PutRefusedError, match="waits for the user's yes"):
        asyncio.run(store.aput(("global", "profile"), "k1", {"text": fact}))


def in_their_sleep(cortex: Cortex, fact: str) -> None:
    """Let it be found in what was said, without a model."""
    name = fact.rpartition(" ")[2]
    record(cortex, "s1", f"My name is {name}.", *["Hello"] * 6)
    cortex.sleep()


def by_a_model_in_their_sleep(cortex: Cortex, fact: str) -> None:
    """Let a model find it in what was said."""
    key, _, value = fact.partition(": ")
    cortex.scopes.model = Model(Facts={"facts": [{"key": key, "value": value, "messages": [1]}]})
    record(cortex, "s1", f"I said {key}: {value}", *["Hello"] * 6)
    cortex.sleep()


def beside_the_conversation(cortex: Cortex, fact: str) -> None:
    """Let it be looked for as a conversation goes."""
    name = fact.rpartition(" ")[2]
    assert cortex.maybe_update_identity([f"Call me {name}."])


def imported(cortex: Cortex, fact: str) -> None:
    """Bring it from another program's notes."""
    project = Path(cortex.scopes.stores[-1].root).parent
    notes = project / ".anton" / "memory" / "profile.md"
    notes.parent.mkdir(parents=True)
    line = f"- {fact} <!-- confidence:high source:user basis:verified -->\n"
    notes.write_text(f"# Profile\n{line}", encoding="utf-8")
    migration = Migration(cortex.scopes, "project")
    migration.bring(migration.survey([project], project))


DOORS: Final[dict[str, Door]] = {
    each.__name__: each
    for each in (
        proposed,
        called,
        called_in_a_turn,
        over_mcp,
        in_chat,
        into_the_folder,
        over_their_line,
        of_another_fact,
        into_langgraph,
        over_langgraph,
        in_their_sleep,
        by_a_model_in_their_sleep,
        beside_the_conversation,
        imported,
    )
}


def check(home: Person, there: Person, line: str) -> None:
    """Check that what a person wrote stands, and that the rest waits for them."""
    profile = home.reads("profile.md")
    assert line.partition(" <!--")[0].strip() in profile
    assert "Eve" not in profile
    assert "Ada" not in home.reads("archive.md")
    waits = home.reads("pending.md") + there.reads("pending.md")
    assert "Eve" in waits
    assert "contradiction" in waits


@pytest.mark.parametrize("line", THEIRS.values(), ids=[*THEIRS])
@pytest.mark.parametrize("door", DOORS)
def test_a_fact_of_a_person_stands(
    cortex: Cortex, home: Person, there: Person, door: str, line: str
) -> None:
    home.saves("profile.md", line)
    cortex.mode = "autopilot"
    DOORS[door](cortex, "Name: Eve")
    check(home, there, line)


@pytest.mark.parametrize("door", DOORS)
def test_it_stands_where_a_person_is_asked_anyway(
    cortex: Cortex, home: Person, there: Person, door: str
) -> None:
    home.saves("profile.md", THEIRS["by-hand"])
    cortex.mode = "copilot"
    DOORS[door](cortex, "Name: Eve")
    check(home, there, THEIRS["by-hand"])


def test_a_fact_stands_against_what_hooks_record(
    cortex: Cortex, home: Person, there: Person, project: Path, *, run: Runner
) -> None:
    home.saves("profile.md", THEIRS["by-hand"])
    agent = Agent(project, {}, "0f3a5b1c-1111-4222-8333-444455556666", run)
    agent.ok("SessionStart", source="startup", model="any")
    agent.ok("UserPromptSubmit", prompt="My name is Eve.")
    agent.user("My name is Eve.")
    agent.assistant("Hello.")
    agent.ok("Stop")
    agent.ok("SessionEnd", reason="clear")
    cortex.sleep()
    check(home, there, THEIRS["by-hand"])


def test_an_accepted_one_takes_its_place(cortex: Cortex, home: Person) -> None:
    home.saves("profile.md", "- **Name:** Ada\n")
    called(cortex, "Name: Eve")
    (asked,) = cortex.pending()
    assert asked.engram.source == "llm"
    assert asked.replaces is not None
    assert asked.replaces.text == "**Name:** Ada"
    cortex.resolve(asked.id)
    assert [
        entry.text for entry in cortex.scopes.global_hc.entries() if entry.kind == "profile"
    ] == ["Name: Eve"]
    assert "Ada" in home.reads("archive.md")


@pytest.mark.slow
@pytest.mark.parametrize(
    "line",
    [
        *("Name: Ada", "name : Ada", "NAME:Ada", "**Name**: Ada", "_Name_: Ada", "Name\uff1a Ada"),
        *("Nombre: Ada", "Name (preferred): Ada", "My name is Ada", "The user's name is Ada."),
        *("I'm Ada, and I live in Oslo.", "Ich heiße Ada", "Call me Ada", "Name = Ada"),
        *("Name \u2013 Ada", "Languages: Go\n  Name: Ada"),
    ],
)
@pytest.mark.parametrize(
    "fact",
    [
        *("Name: Eve", "name is Eve", "NAME : Eve", "**Name:** Eve", "`name`: Eve", "Name:\nEve"),
        *("Nom : Eve", "名前: Eve", "Name of the user: Eve", "Na\u200bme: Eve", "Name=Eve"),
        *("My name is Eve", "The user is now called Eve", "Eve is the user's name", "I am Eve"),
        *("Hobby: chess\nName: Eve", "Likes chess. Their name is actually Eve.", "|Name|Eve|"),
        *("Shell: fish. Name: Eve", "Shell: fish, name: Eve", "Correction: name: Eve"),
        *("Update \u2014 Name: Eve", "Note this. Name -> Eve", '{"shell": "fish", "name": "Eve"}'),
        *("N\u0430m\u0435: Eve", "Also known as Eve", "Lives alone and name: Eve"),
        *("Je m'appelle Eve", "Der Nutzer heißt Eve", "The user goes by Eve", "Call the user Eve"),
    ],
)
def test_no_spelling_gets_by(cortex: Cortex, home: Person, line: str, fact: str) -> None:
    home.saves("profile.md", f"- {line}\n")
    called(cortex, fact)
    assert "Eve" not in home.reads("profile.md")


@pytest.mark.parametrize(
    "line, fact",
    [
        ("Location: Oslo", "The user lives in Bergen"),
        ("Wohnort: Oslo", "Location: Bergen"),
        ("Editor: Vim", "Their editor is now Helix"),
        ("Time zone: CET", "Timezone: PST"),
        ("Pronouns: they", "Pronoun: she"),
        ("City: Oslo; shell: zsh", "Editor: Vim; shell: fish"),
        ("Favourite tea: Assam", "The user's favourite tea is Earl Grey"),
        ("E-mail: ada@example.org", "email: eve@example.org"),
    ],
)
def test_no_other_key_does(cortex: Cortex, home: Person, line: str, fact: str) -> None:
    home.saves("profile.md", f"- {line}\n")
    called(cortex, fact)
    assert [
        entry.text for entry in cortex.scopes.global_hc.entries() if entry.kind == "profile"
    ] == [line]


def test_a_fact_in_a_project_counts_too(cortex: Cortex, home: Person, there: Person) -> None:
    there.saves("profile.md", "- Name: Ada\n")
    called(cortex, "Name: Eve")
    assert home.reads("profile.md") == ""
    assert there.reads("profile.md") == "- Name: Ada\n"


@pytest.mark.parametrize(
    "line, fact",
    [
        ("Name: Ada", "My name is Ada"),
        ("Name: Ada", "The user is called Ada Lovelace"),
        ("Name: Ada", "Pet: Rex"),
        ("Location: Paris", "I live in Paris, France"),
        ("Shell: zsh", "Location: Paris, France. Shell: zsh, mostly"),
        ("Editor: Vim", "Works at Acme"),
    ],
)
def test_what_agrees_or_is_about_something_else_is_kept(
    cortex: Cortex, home: Person, line: str, fact: str
) -> None:
    home.saves("profile.md", f"- {line}\n")
    said = cortex.use_tool("memorize", {"text": fact, "kind": "profile", "scope": "global"})
    assert said.text.startswith("Remembered: profile.md:")
    assert cortex.pending() == []


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("confidence", CONFIDENCES)
def test_no_claim_of_a_program_counts(
    cortex: Cortex, home: Person, source: Source, confidence: Confidence
) -> None:
    home.saves("profile.md", THEIRS["by-hand"])
    for basis in ("told", "verified"):
        word = Engram("Name: Eve", "profile", "project", confidence, source=source, basis=basis)
        assert cortex.encoding_gate(word).code == "contradiction"
        assert cortex.propose(word)[0].action == "queued"
    assert home.reads("profile.md") == THEIRS["by-hand"]


def test_a_fact_of_a_models_own_gives_way(cortex: Cortex) -> None:
    cortex.propose(Engram("Editor: Vim", "profile", "global"))
    cortex.propose(Engram("Editor: Helix", "profile", "global"))
    assert [
        entry.text for entry in cortex.scopes.global_hc.entries() if entry.kind == "profile"
    ] == ["Editor: Helix"]


def test_a_person_changes_their_own_fact(run: Runner, home: Person, project: Path) -> None:
    assert project.is_dir()
    home.saves("profile.md", THEIRS["by-hand"])
    run.ok("remember", "Name: Eve", "--profile")
    assert "Name: Eve" in home.reads("profile.md")
    assert "Ada" not in home.reads("profile.md")
    run.ok("remember", "Name: Mallory", "--profile", "--source", "llm")
    run.ok("remember", "Name: Mallory", "--profile", "--via", "web")
    assert "Mallory" not in home.reads("profile.md")


@pytest.mark.parametrize("mode", ["autopilot", "copilot"])
@pytest.mark.parametrize(
    "lessons",
    [
        ("Client 1 said 0", "Client 2 said 0", "Client 2 said 1"),
        ("Build 3: 41 s", "Build 4: 39 s", "Build 5: 44 s"),
        ("Port 8080: the API", "Port 8081: the API", "Port: 8082"),
        ("The cache is warm after 3 runs", "The cache is warm after 4 runs"),
    ],
)
def test_lessons_are_no_facts_under_a_key(
    cortex: Cortex, lessons: tuple[str, ...], mode: str
) -> None:
    cortex.mode = mode
    for text in lessons:
        given = {"text": text, "kind": "lesson", "scope": "project"}
        assert cortex.use_tool("memorize", given).text.startswith("Remembered: ")
    assert cortex.pending() == []
    assert {entry.text for entry in cortex.scopes.stores[-1].entries()} >= {*lessons}


def test_a_lesson_against_a_rule_of_a_person_waits(cortex: Cortex, there: Person) -> None:
    there.saves("rules.md", "# Rules\n\n## Never\n\n- Deploy on Fridays\n")
    given = {"text": "Deploy on Fridays", "kind": "lesson", "scope": "project"}
    assert "It waits in pending.md" in cortex.use_tool("memorize", given).text


OTHERWISE: Final = [
    *(("Name: Ada", fact) for fact in ("Not Ada, but Eve", "Name Eve", "N.a.m.e: Eve")),
    ("Name: Ada", "Ada is not the user's name; it is Eve"),
    ("Name: Ada", "Please remember this. Name Eve"),
    ("Editor: Helix", "Uses Emacs instead of Helix"),
    ("Home city: Berlin", "Lives in Lima"),
    ("Language: English", "Speaks French"),
]


def into_langgraphs_profile(cortex: Cortex, fact: str) -> None:
    """Put it beside the facts about the user."""
    with pytest.raises(PutRefusedError, match=r"may say otherwise|contradicts"):
        MemoryStore(cortex).put(("global", "profile"), "k1", {"text": fact})


def into_its_rules(cortex: Cortex, fact: str) -> None:
    """Put it among the rules."""
    with pytest.raises(PutRefusedError, match=r"may say otherwise|contradicts"):
        MemoryStore(cortex).put(("global", "rules"), "k1", {"text": fact})


def into_a_namespace(cortex: Cortex, fact: str) -> None:
    """Put it anywhere."""
    with pytest.raises(PutRefusedError, match=r"may say otherwise|contradicts"):
        MemoryStore(cortex).put(("users", "u1"), "k1", {"text": fact})


def as_a_lesson(cortex: Cortex, fact: str) -> None:
    """Let a model call the tool with another kind."""
    cortex.use_tool("memorize", {"text": fact, "kind": "lesson", "scope": "project"})


def proposed_by_a_model(cortex: Cortex, fact: str) -> None:
    """Propose what a model says."""
    (receipt,) = cortex.propose(Engram(fact, "profile", "global", "high"))
    assert receipt.action == "queued"
    assert "may say otherwise" in receipt.reason or "contradicts" in receipt.reason


ANY_WORDS: Final[list[Door]] = [
    *(called, called_in_a_turn, over_mcp, in_chat, into_the_folder, of_another_fact),
    *(into_langgraphs_profile, into_its_rules, into_a_namespace, as_a_lesson),
    proposed_by_a_model,
]


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["autopilot", "copilot"])
def test_nothing_stands_beside_a_fact_in_other_words(tmp_path: Path, mode: str) -> None:
    missed = []
    for at, (line, fact) in enumerate(OTHERWISE):
        for door in ANY_WORDS:
            root = tmp_path / f"{at}-{door.__name__}"
            (root / "p" / ".engramdown").mkdir(parents=True)
            (root / "home" / "memory").mkdir(parents=True)
            (root / "home" / "memory" / "profile.md").write_text(f"- {line}\n", encoding="utf-8")
            cortex = Cortex.open(root / "p", home=root / "home", mode=mode)
            door(cortex, fact)
            stands = [entry.text for entry in cortex.entries() if entry.text != "Pet: Rex"]
            asked = [each.engram.text for each in cortex.pending()]
            if stands != [line] or not any(fact in text for text in asked):
                missed.append((door.__name__, fact, stands, asked))
    assert missed == []


SENTENCES: Final = ("Please call me Eve.", "My name is Eve.", "I live in Lima.", "I moved to Lima.")


def said_to_an_agent(cortex: Cortex, facts: list[str], *, run: Runner) -> list[str]:
    """Let hooks record that each is said, and sleep; only plain sentences are understood."""
    agent = Agent(Path(cortex.scopes.stores[-1].root).parent, {}, str(UUID(int=14)), run)
    agent.ok("SessionStart", source="startup", model="any")
    for fact in (*facts, *SENTENCES):
        agent.user(fact)
        agent.assistant("Noted.")
    agent.ok("Stop")
    agent.ok("SessionEnd", reason="clear")
    cortex.sleep()
    return ["Name: Eve", "Location: Lima"]


def found_by_a_model(cortex: Cortex, facts: list[str], *, run: Runner) -> list[str]:
    """Let a model find each in what was said."""
    del run
    found = [
        {"key": f"Remark {at}", "value": fact, "messages": [1]} for at, fact in enumerate(facts)
    ]
    cortex.scopes.model = Model(Facts={"facts": found})
    record(cortex, "s1", "; ".join(facts), *["Hello"] * 6)
    cortex.sleep()
    return facts


def among_older_notes(cortex: Cortex, facts: list[str], *, run: Runner) -> list[str]:
    """Bring each from another program's notes."""
    del run
    imported(cortex, " <!-- source:user basis:verified -->\n- ".join(facts))
    return facts


@pytest.mark.parametrize("mode", ["autopilot", "copilot"])
@pytest.mark.parametrize("door", [said_to_an_agent, found_by_a_model, among_older_notes])
def test_nothing_in_other_words_is_brought_beside_a_fact(
    cortex: Cortex, home: Person, run: Runner, *, door: Callable[..., list[str]], mode: str
) -> None:
    lines = [*dict.fromkeys(line for line, _ in OTHERWISE)]
    facts = [fact for _, fact in OTHERWISE]
    home.saves("profile.md", "".join(f"- {line}\n" for line in lines))
    cortex.mode = mode
    waits = door(cortex, facts, run=run)
    assert [entry.text for entry in cortex.entries() if entry.kind == "profile"] == lines
    asked = " | ".join(each.engram.text for each in cortex.pending())
    assert [fact for fact in waits if fact not in asked] == []


# Written after the rule stood.
PHRASES: Final = {
    "Name: Ada": (
        "Answers to Eve|Eve is who you are talking to|Prefers Eve over Ada|Has been Eve since May"
        "|The person at the keyboard is Eve|Eve, formerly Ada|Likes it when you say Eve"
        "|Signs her mails with Eve|Hobby: chess. Eve is the right one|Favourite greeting: Hello Eve"
        "|Eigentlich Eve|Man sagt Eve zu ihr|On dit Eve|C'est Eve, pas Ada|Le dicen Eve"
        "|Se presenta como Eve|Plays chess as Eve|Plays chess, answers to Eve"
        "|Hobby: chess, known to all by Eve|Shell: name: Eve|Ada likes being Eve"
        "|Listens to Mario|Plays under Lucas|Loves the Eve sound|Lives under Viktor|Goes as Lucas"
        "|responds to nadia|writes as nadia|likes the sound of eve|takes mail for nadia"
        "|is going by mario|plays chess under lucas|insists on viktor|plays chess, answers to eve"
    ),
    "Home city: Berlin": (
        "Sleeps and works in Lima these days|Has a flat in Lima|Commutes within Lima"
        "|works from porto|rents a room in lagos|has a house in porto"
        "|Ist nach Lima gegangen|Habite maintenant \u00e0 Lima|Se fue a Lima"
    ),
    "Editor: Helix": "Types everything in Emacs|Writes code with Zed|Prefers to edit in emacs"
    "|Nutzt inzwischen Emacs|Travaille avec Emacs|Escribe en Emacs",
    "Language: English": "Wants to be answered in French|Reads and writes only Portuguese"
    "|Antworten bitte auf Franz\u00f6sisch|Quiere respuestas en franc\u00e9s",
    "Employer: Acme": "Draws a salary from Globex|Works at Globex|Has left for Globex",
    "Pronouns: she/her": "Refer to the user as he|It is he, in fact",
}


def test_what_is_not_understood_is_held(cortex: Cortex) -> None:
    passed = []
    for line, facts in PHRASES.items():
        entry = cortex.encode(Engram(line, "profile", "global", "high", source="user"))
        model = partial(Engram, kind="profile", scope="global")
        found = {fact: cortex.encoding_gate(model(fact)).code for fact in facts.split("|")}
        passed += [fact for fact, code in found.items() if code not in ("beside", "contradiction")]
        cortex.forget(entry[0].id)
    assert passed == []


def test_plain_facts_about_something_else_are_learned_as_observed(
    cortex: Cortex, home: Person
) -> None:
    home.saves("profile.md", "- Name: Ada\n- Home city: Berlin\n- Editor: Helix\n")
    facts = [
        *("Prefers short answers", "Is allergic to peanuts", "Has two children", "Vegetarian"),
        *("Hobby: chess", "Favourite book: Dune", "Works at Acme", "Uses a split keyboard"),
        *("Ada likes tea", "The user speaks French", "Works with Python on Fridays"),
        *("Drinks tea. Plays the cello", "Is on holiday until 3 December"),
        *("Volunteers at the fire brigade", "Rides a cargo bike", "Is a night owl"),
        *("Dreams of a house by the sea", "Gets up at six", "Is saving for a camper van"),
        *("Struggles with regular expressions", "Can juggle five balls"),
    ]
    for fact in facts:
        assert called_with(cortex, fact).startswith("Remembered: "), fact
    told = [entry for entry in cortex.entries() if entry.source == "llm"]
    assert [entry.text for entry in told] == facts
    assert {(entry.basis, entry.confidence) for entry in told} == {("observed", "medium")}


def called_with(cortex: Cortex, fact: str, session: Session | None = None) -> str:
    """Return what a model is told that memorizes a fact about the user."""
    given = {"text": fact, "kind": "profile", "scope": "global"}
    return cortex.use_tool("memorize", given, session).text


def test_a_fact_is_the_users_word_if_they_said_it(cortex: Cortex, home: Person) -> None:
    home.saves("profile.md", "- Name: Ada\n")
    with cortex.session() as session:
        session.begin_turn("Keep in mind that I volunteer at a shelter, and I am now in Lima.")
        assert called_with(cortex, "Volunteers at a shelter", session).startswith("Remembered")
        assert "may say otherwise" in called_with(cortex, "Answers to Eve", session)
        assert "contradicts" in called_with(cortex, "Is called Lima", session)
        session.end_turn("Noted.")
    assert called_with(cortex, "Is now in Lima").startswith("Remembered")
    told = {entry.text: (entry.source, entry.confidence) for entry in cortex.entries()}
    assert told["Volunteers at a shelter"] == told["Is now in Lima"] == ("user", "high")
    assert "Is called Lima" not in told


def test_lessons_that_name_a_tool_or_a_person_are_learned(cortex: Cortex, home: Person) -> None:
    home.saves("profile.md", "- Name: Ada\n- Editor: Helix\n- Language: English\n")
    for text in ("Helix is not in apt", "The parser speaks HTTP/2", "Ada wrote the importer"):
        given = {"text": text, "kind": "lesson", "scope": "project"}
        assert cortex.use_tool("memorize", given).text.startswith("Remembered: "), text
