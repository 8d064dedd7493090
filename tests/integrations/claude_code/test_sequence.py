"""A day of a coding agent, each of its hooks a process of its own, and what memory has of it."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engramdown import Cortex, Engram, EpisodicMemory
from tests.git.desk import Desk
from tests.integrations.claude_code.agent import Agent

RULE = "Run the linter before pushing"
LESSON = "The staging server listens on port 8443"
FAILURES = 3
# More than the usual three, for a machine that is busy with other tests.
PATIENT = {"ENGRAMDOWN_HOOK_SECONDS": "10"}
PATIENCE = 60


@pytest.fixture
def project(tmp_path: Path, isolated_home: Path) -> Path:
    """Set up memory for a project, and for all projects."""
    folder = tmp_path / "project"
    folder.mkdir()
    cortex = Cortex.open(folder)
    cortex.encode([Engram(RULE, "always", "project"), Engram("Ask first", "never", "global")])
    assert (isolated_home / ".engramdown").is_dir()
    return folder


@pytest.fixture
def agent(project: Path, child_env: dict[str, str]) -> Agent:
    """Begin a conversation."""
    return Agent(project, child_env, "0f3a5b1c-1111-4222-8333-444455556666")


def fails_often(agent: Agent) -> None:
    """Let the agent run into one error again and again."""
    for at in range(FAILURES):
        agent.call(f"t{at}", "make deploy")
        agent.result(f"t{at}", "Error: cannot reach the harbour", failed=True)


@pytest.mark.slow
def test_a_whole_conversation_is_remembered_once(agent: Agent, project: Path) -> None:
    started = agent.ok("SessionStart", source="startup", model="any")
    assert RULE in started
    assert "Ask first" in started
    assert agent.ok("UserPromptSubmit", prompt="Deploy it, please") == ""
    agent.user("Deploy it, please")
    fails_often(agent)
    tools = [
        agent.start(
            "PostToolUseFailure",
            tool_name="Bash",
            tool_use_id=f"t{at}",
            tool_input={"command": "make deploy"},
            error="Error: cannot reach the harbour",
            is_interrupt=False,
        )
        for at in range(FAILURES)
    ]
    assert [tool.wait(60) for tool in tools] == [0] * FAILURES
    agent.assistant("The harbour does not answer.")
    said = agent.lines()
    assert said == []
    assert agent.ok("Stop", stop_hook_active=False) == ""
    first = agent.lines()
    assert len(first) == 2 + 2 * FAILURES
    assert agent.ok("Stop", stop_hook_active=False) == ""
    assert agent.lines() == first
    agent.user("Thanks")
    agent.assistant("You are welcome.")
    assert agent.ok("Stop", stop_hook_active=False) == ""
    assert agent.lines() == [*first, ("user", "Thanks"), ("assistant", "You are welcome.")]
    assert agent.ok("SessionEnd", reason="prompt_input_exit") == ""
    memory = EpisodicMemory(project / ".engramdown")
    [info] = memory.sessions()
    assert (info.source, info.reason) == ("claude-code", "finished")
    learned = [entry for entry in Cortex.open(project).entries() if "failed twice" in entry.text]
    assert [entry.origin.partition("#")[0] for entry in learned] == [info.id]


@pytest.mark.slow
def test_a_conversation_that_is_taken_up_again_goes_on(agent: Agent, project: Path) -> None:
    assert RULE in agent.ok("SessionStart", source="startup")
    agent.user("One")
    agent.ok("SessionEnd", reason="other")
    # The conversation still holds what it was told.
    assert agent.ok("SessionStart", source="resume") == ""
    Cortex.open(project).encode(Engram(LESSON, "lesson", "project"))
    assert LESSON in agent.ok("SessionStart", source="resume")
    # What was compacted, or cleared, does not.
    assert RULE in agent.ok("SessionStart", source="compact")
    assert RULE in agent.ok("SessionStart", source="clear")
    agent.user("Two")
    agent.ok("Stop")
    [info] = EpisodicMemory(project / ".engramdown").sessions()
    assert info.ended == ""
    assert agent.lines() == [("user", "One"), ("user", "Two")]


def test_what_was_said_is_learned_by_the_next_sleep(agent: Agent, project: Path) -> None:
    agent.user("Remember that the staging server is in Berlin.")
    agent.assistant("Noted.")
    agent.ok("SessionEnd")
    Cortex.open(project).sleep(use_model=False)
    assert [each for each in Cortex.open(project).entries() if "Berlin" in each.text] != []


@pytest.mark.slow
def test_a_prompt_brings_what_it_is_about_once(agent: Agent, project: Path) -> None:
    agent.ok("SessionStart", source="startup")
    assert agent.ok("UserPromptSubmit", prompt="restart the staging server") == ""
    Cortex.open(project).encode(Engram(LESSON, "lesson", "project"))
    assert agent.ok("UserPromptSubmit", prompt="write a test, please") == ""
    assert f"- {LESSON}" in agent.ok("UserPromptSubmit", prompt="restart the staging server")
    assert agent.ok("UserPromptSubmit", prompt="restart the staging server") == ""


def test_a_line_by_hand_comes_once_whichever_way_its_address_was_kept(
    agent: Agent, project: Path
) -> None:
    agent.ok("SessionStart", source="startup")
    lessons = project / ".engramdown/memory/lessons.md"
    lessons.write_text(f"- {LESSON}\n", encoding="utf-8")
    assert f"- {LESSON}" in agent.ok("UserPromptSubmit", prompt="restart the staging server")
    (given,) = project.rglob("given.json")
    kept = given.read_text(encoding="utf-8")
    assert '"_' in kept
    given.write_text(kept.replace('"_', '"~'), encoding="utf-8")
    assert agent.ok("UserPromptSubmit", prompt="restart the staging server") == ""


def test_what_was_said_earlier_about_the_same_comes_with_a_prompt(
    agent: Agent, child_env: dict[str, str]
) -> None:
    agent.user("Does the harbour crane need a licence?")
    agent.assistant("The crane in the harbour needs licence B7.")
    agent.ok("SessionEnd")
    later = Agent(agent.project, child_env, "later")
    told = later.ok("UserPromptSubmit", prompt="licence of the harbour crane?")
    assert "licence B7" in told
    assert later.ok("UserPromptSubmit", prompt="hello there") == ""
    assert agent.ok("UserPromptSubmit", prompt="licence of the harbour crane?") == ""


def test_a_failure_brings_what_memory_knows_of_it(agent: Agent, project: Path) -> None:
    Cortex.open(project).encode(
        Engram("CoinGecko answers 429 above 50 requests a minute", "lesson", "project")
    )
    answer = json.loads(
        agent.ok(
            "PostToolUseFailure",
            tool_name="Bash",
            tool_input={"command": "curl coingecko"},
            error="HTTP 429 from CoinGecko",
        )
    )
    told = answer["hookSpecificOutput"]
    assert told["hookEventName"] == "PostToolUseFailure"
    assert "above 50 requests" in told["additionalContext"]
    assert agent.ok("PostToolUse", tool_name="Bash", tool_response={"stdout": "429"}) == ""


def test_a_ticked_proposal_is_delivered_with_the_next_prompt(agent: Agent, project: Path) -> None:
    page = project / ".engramdown" / "memory" / "pending.md"
    page.write_text(
        "# Pending\n\n- [x] Prefer fixtures over setUp <!-- id:p81dz5ka kind:always "
        "scope:project confidence:medium source:consolidation ts:2026-02-27 -->\n",
        encoding="utf-8",
    )
    told = agent.ok("UserPromptSubmit", prompt="hello")
    assert told == 'Memory, ticked by the user: remembered "Prefer fixtures over setUp"\n'
    assert "Prefer fixtures" not in page.read_text(encoding="utf-8")
    assert "Prefer fixtures over setUp" in agent.ok("SessionStart", source="startup")


def test_a_session_begins_with_what_waits(agent: Agent, project: Path) -> None:
    cortex = Cortex.open(project, mode="copilot")
    cortex.propose(Engram("Prefer tabs", "always", "project", "medium"))
    assert "1 proposal waits for the user" in agent.ok("SessionStart", source="startup")


def test_a_session_begins_with_what_came_with_git(
    agent: Agent, tmp_path: Path, child_env: dict[str, str]
) -> None:
    theirs = Desk(tmp_path / "theirs", author="Bob")
    rule = "- Deploy on Mondays <!-- id:k3v9q2ht source:user ts:2026-02-27 -->\n"
    theirs.write(".engramdown/memory/rules.md", f"## Always\n\n{rule}")
    theirs.commit()
    theirs.git("clone", "--quiet", ".", str(tmp_path / "clone"))
    cloned = Agent(tmp_path / "clone", child_env, agent.session)
    started = cloned.ok("SessionStart", source="startup")
    assert "- Deploy on Mondays" in started
    assert "1 thing in memory came with git" in started
    (tmp_path / "clone" / ".engramdown" / "config.toml").write_text('pulled = "review"\n', "utf-8")
    started = cloned.ok("SessionStart", source="startup")
    assert "- Deploy on Mondays" not in started
    assert "1 proposal waits for the user" in started


def test_a_call_that_the_user_stopped_is_no_error_to_learn_of(agent: Agent, project: Path) -> None:
    Cortex.open(project).encode(Engram("CoinGecko answers 429 above 50", "lesson", "project"))
    words = {"tool_name": "Bash", "error": "HTTP 429 from CoinGecko"}
    assert agent.ok("PostToolUseFailure", **words, is_interrupt=True) == ""
    assert agent.ok("PostToolUseFailure", **words) != ""


def test_in_copilot_nothing_is_learned_unasked(agent: Agent, project: Path) -> None:
    (project / ".engramdown" / "config.toml").write_text('mode = "copilot"\n', encoding="utf-8")
    agent.user("Deploy it")
    fails_often(agent)
    agent.ok("Stop")
    cortex = Cortex.open(project)
    assert [entry for entry in cortex.entries() if "failed twice" in entry.text] == []
    assert [each for each in cortex.pending() if "failed twice" in each.engram.text] != []


@pytest.mark.parametrize(
    "config", ['mode = "off"\n', "[consolidation]\nlearn_from_errors = false\n"]
)
def test_what_is_switched_off_learns_nothing(agent: Agent, project: Path, config: str) -> None:
    (project / ".engramdown" / "config.toml").write_text(config, encoding="utf-8")
    agent.user("Deploy it")
    fails_often(agent)
    assert RULE in agent.ok("SessionStart", source="startup")
    agent.ok("Stop")
    cortex = Cortex.open(project)
    assert [entry for entry in cortex.entries() if "failed twice" in entry.text] == []
    assert cortex.pending() == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "config", ["[episodes]\nenabled = false\n", '[episodes]\nignore = ["0f3a*"]\n']
)
def test_what_is_not_to_be_recorded_is_not(agent: Agent, project: Path, config: str) -> None:
    (project / ".engramdown" / "config.toml").write_text(config, encoding="utf-8")
    agent.ok("UserPromptSubmit", prompt="a secret thing")
    agent.ok("PostToolUse", tool_name="Bash", tool_input={}, tool_response="a secret thing")
    agent.user("a secret thing")
    agent.ok("Stop", last_assistant_message="a secret thing")
    agent.ok("SessionEnd")
    assert agent.lines() == []
    files = [path for path in (project / ".engramdown").rglob("*") if path.is_file()]
    assert [path for path in files if b"a secret thing" in path.read_bytes()] == []


def test_from_a_session_that_was_excluded_nothing_is_learned(agent: Agent, project: Path) -> None:
    agent.user("Hello")
    agent.ok("Stop")
    memory = EpisodicMemory(project / ".engramdown")
    [info] = memory.sessions()
    assert memory.mark(info.id, "exclude") is not None
    memory.close()
    fails_often(agent)
    agent.ok("Stop")
    assert [each for each in Cortex.open(project).entries() if "failed twice" in each.text] == []


def test_a_session_that_was_purged_does_not_come_back(agent: Agent, project: Path) -> None:
    agent.user("One")
    agent.ok("Stop")
    memory = EpisodicMemory(project / ".engramdown")
    [info] = memory.sessions()
    memory.forgetting().purge(info.id)
    agent.user("Two")
    assert agent.ok("SessionEnd") == ""
    assert agent.lines() == []


@pytest.mark.slow
def test_an_agent_without_a_transcript_is_recorded_by_its_hooks(agent: Agent) -> None:
    agent.transcript = agent.transcript.with_name("nowhere.jsonl")
    agent.ok("UserPromptSubmit", prompt="Deploy it")
    tools = [
        agent.start(
            "PostToolUse",
            tool_name="Bash",
            tool_use_id=f"t{at}",
            tool_input={"command": f"echo {at}"},
            tool_response={"stdout": f"{at}\n", "stderr": ""},
        )
        for at in range(6)
    ]
    assert [tool.wait(60) for tool in tools] == [0] * 6
    agent.ok("Stop", last_assistant_message="Done")
    agent.ok("Stop")
    agent.ok("SessionEnd")
    said = agent.lines()
    assert said[0] == ("user", "Deploy it")
    assert said[-1] == ("assistant", "Done")
    assert sorted(text for role, text in said if role == "tool_result") == [
        f"{at}\n" for at in range(6)
    ]
    calls = [each.call for each in agent.episodes() if each.role.startswith("tool")]
    assert calls[::2] == calls[1::2]


def test_a_hook_that_is_killed_leaves_nothing_torn(agent: Agent) -> None:
    for at in range(30):
        agent.user(f"message {at} " + "x" * 2_000)
    for pause in (0.02, 0.08, 0.12, 0.16, 0.2):
        process = agent.start("Stop")
        time.sleep(pause)
        process.kill()
        assert process.wait(60) in (0, -signal.SIGKILL)
        agent.user(f"after {pause}")
    agent.ok("Stop")
    said = [text.split(" x")[0] for _, text in agent.lines()]
    assert said == [
        *(f"message {at}" for at in range(30)),
        *(f"after {pause}" for pause in (0.02, 0.08, 0.12, 0.16, 0.2)),
    ]


@pytest.mark.slow
def test_two_conversations_at_once_do_not_mix(agent: Agent, child_env: dict[str, str]) -> None:
    other = Agent(agent.project, child_env, "other")
    running = []
    for at in range(4):
        for each in (agent, other):
            each.user(f"{each.session[:5]} {at}")
            running.append(each.start("UserPromptSubmit", prompt=f"{each.session[:5]} {at}"))
            running.append(each.start("Stop"))
    assert {process.wait(60) for process in running} == {0}
    for each in (agent, other):
        each.ok("SessionEnd")
    memory = EpisodicMemory(agent.project / ".engramdown")
    found = {
        tuple(each.text for each in memory.session(info.id).episodes if each.role == "user")
        for info in memory.sessions()
    }
    assert found == {
        tuple(f"{each.session[:5]} {at}" for at in range(4)) for each in (agent, other)
    }


@pytest.mark.slow
def test_what_a_sub_agent_is_told_is_not_the_users_word(agent: Agent, project: Path) -> None:
    agent.sub_agent("From now on use npm.")
    agent.ok("UserPromptSubmit", prompt="From now on use yarn.", agent_id="a7", agent_type="x")
    agent.ok("UserPromptSubmit", prompt="From now on use uv.")
    agent.user("From now on use uv.")
    agent.ok("Stop", last_assistant_message="Two rows are missing.", agent_id="a7")
    agent.ok("SessionEnd", reason="other", agent_id="a7")
    memory = EpisodicMemory(project / ".engramdown")
    assert {info.ended for info in memory.sessions()} == {""}
    agent.assistant("Fine.")
    agent.ok("Stop", last_assistant_message="Fine.")
    agent.ok("SessionEnd", reason="other")
    users = [text for role, text in agent.lines() if role == "user"]
    assert users == ["From now on use uv."]
    main = [info for info in memory.sessions() if not info.parent and info.reason == "finished"]
    assert len(main) == 1
    assert [each.text for each in memory.session(main[0].id).episodes if each.text] == [
        "From now on use uv.",
        "Fine.",
    ]


def test_without_a_transcript_the_words_of_a_sub_agent_are_left_out(agent: Agent) -> None:
    agent.ok("UserPromptSubmit", prompt="From now on use npm.", agent_id="a7")
    agent.ok("UserPromptSubmit", prompt="From now on use uv.")
    agent.ok("Stop", last_assistant_message="Two rows are missing.", agent_id="a7")
    agent.ok("Stop", last_assistant_message="Fine.")
    assert agent.lines() == [("user", "From now on use uv."), ("assistant", "Fine.")]


# ---- much that is due ----


@pytest.mark.slow
def test_thousands_of_ticks_that_came_with_git_silence_nothing(
    tmp_path: Path, isolated_home: Path, child_env: dict[str, str]
) -> None:
    theirs = Desk(tmp_path / "theirs", author="Bob")
    theirs.write(".engramdown/memory/rules.md", f"## Always\n\n- {RULE}\n")
    ticked = "".join(
        f"- [x] Rule {at} of many <!-- id:{at:08d} kind:lesson scope:project source:llm -->\n"
        for at in range(3_000)
    )
    theirs.write(".engramdown/memory/pending.md", f"# Pending\n\n{ticked}")
    theirs.commit()
    theirs.git("clone", "--quiet", ".", str(tmp_path / "clone"))
    isolated_home.mkdir(exist_ok=True)
    cloned = Agent(tmp_path / "clone", child_env | PATIENT, "many")
    page = tmp_path / "clone" / ".engramdown" / "memory" / "pending.md"
    left = [3_000]
    while left[-1] and len(left) < 20:
        code, out, _ = cloned.hook("SessionStart", source="startup")
        assert code == 0
        assert f"- {RULE}" in out.split("\n")
        left.append(page.read_text(encoding="utf-8").count("[x]"))
    # What there was no time for is carried out the next time, and the next.
    assert left[-1] == 0
    assert sorted(left, reverse=True) == left


@pytest.mark.slow
def test_five_thousand_skills_silence_nothing(project: Path, child_env: dict[str, str]) -> None:
    for at in range(5_000):
        folder = project / ".engramdown" / "skills" / f"skill-{at:04}"
        folder.mkdir(parents=True)
        text = f"---\nname: skill-{at:04}\ndescription: Does thing {at}\n---\n\nDo it.\n"
        (folder / "SKILL.md").write_text(text, encoding="utf-8")
    code, out, _ = Agent(project, child_env | PATIENT, "skilled").hook(
        "SessionStart", source="startup"
    )
    assert code == 0
    assert f"- {RULE}" in out.split("\n")
    assert "- skill-0000: Does thing 0" in out.split("\n")


@pytest.mark.slow
def test_what_was_said_is_learned_when_the_session_ends(
    agent: Agent, project: Path, child_env: dict[str, str]
) -> None:
    child_env["ENGRAMDOWN_AT_SESSION_END"] = "on"
    agent.ok("SessionStart", source="startup")
    agent.user("Always use pnpm in this project, never npm.")
    agent.assistant("I will.")
    agent.ok("Stop")
    assert "pnpm" not in memory_of(project)
    agent.ok("SessionEnd", reason="prompt_input_exit")
    deadline = time.monotonic() + PATIENCE
    while "pnpm" not in memory_of(project):
        assert time.monotonic() < deadline, memory_of(project)
        time.sleep(0.1)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["environment", "home", "mode"])
def test_learning_when_a_session_ends_can_be_switched_off(
    agent: Agent, project: Path, isolated_home: Path, child_env: dict[str, str], how: str
) -> None:
    config = isolated_home / ".engramdown" / "config.toml"
    child_env["ENGRAMDOWN_AT_SESSION_END"] = "off" if how == "environment" else ""
    said = {"home": "[consolidation]\nat_session_end = false\n", "mode": 'mode = "off"\n'}
    config.write_text(said.get(how, ""), encoding="utf-8")
    marker = project / "began"
    # What would begin a process leaves a mark here.
    spy = isolated_home / "sitecustomize.py"
    spy.write_text(
        "import subprocess\n"
        "real = subprocess.Popen\n"
        "class Popen(real):\n"
        "    def __init__(self, *arguments, **more):\n"
        f"        open({str(marker)!r}, 'w', encoding='utf-8').close()\n"
        "        super().__init__(*arguments, **more)\n"
        "subprocess.Popen = Popen\n",
        encoding="utf-8",
    )
    child_env["PYTHONPATH"] += f":{isolated_home}"
    agent.ok("SessionStart", source="startup")
    agent.user("Always use pnpm in this project, never npm.")
    agent.assistant("I will.")
    agent.ok("SessionEnd", reason="other")
    assert not marker.exists()


@pytest.mark.slow
def test_a_session_begins_with_how_to_remember_and_recall(agent: Agent) -> None:
    said = [
        line for line in agent.ok("SessionStart", source="startup").split("\n") if "later" in line
    ]
    assert len(said) == 1
    for name in ("engramdown remember", "engramdown recall", "memorize"):
        assert name in said[0]
    assert len(said[0].split()) < 40
    # Where memory is off nobody is sent to a command that refuses.
    agent.env["ENGRAMDOWN_MODE"] = "off"
    told = agent.ok("SessionStart", source="clear")
    assert "engramdown recall" in told
    assert "engramdown remember" not in told


@pytest.mark.slow
@pytest.mark.parametrize(
    "word, events, context",
    [
        (
            "gemini",
            ("SessionStart", "BeforeAgent", "AfterTool", "AfterAgent", "SessionEnd"),
            lambda said: said["hookSpecificOutput"]["additionalContext"],
        ),
        (
            "cursor",
            (
                "sessionStart",
                "beforeSubmitPrompt",
                "postToolUse",
                "afterAgentResponse",
                "sessionEnd",
            ),
            lambda said: said["additional_context"],
        ),
    ],
)
def test_other_agents_are_answered_as_they_expect(
    project: Path,
    child_env: dict[str, str],
    word: str,
    events: tuple[str, ...],
    context: Callable[[Any], str],
) -> None:
    def happens(at: int, name: str, **fields: object) -> str:
        base = {"hook_event_name": events[at], "workspace_roots": [str(project)]}
        ids = {"cursor": {"conversation_id": "c1"}}.get(
            word, {"session_id": "c1", "cwd": str(project), "transcript_path": "/nowhere.json"}
        )
        done = subprocess.run(
            ["engramdown", "hook", f"{word}/{name}"],
            input=json.dumps(base | ids | fields),
            env=child_env,
            cwd=project,
            capture_output=True,
            encoding="utf-8",
            check=True,
        )
        assert done.stderr == ""
        return done.stdout

    assert RULE in context(json.loads(happens(0, "session-start", source="startup")))
    Cortex.open(project).encode(Engram(LESSON, "lesson", "project"))
    told = happens(1, "prompt-submit", prompt="restart the staging server")
    # Cursor takes no context with a prompt.
    assert (LESSON in context(json.loads(told))) if word == "gemini" else told == ""
    happens(
        2,
        "post-tool",
        tool_name="shell",
        tool_input={"command": "make"},
        tool_response={"llmContent": "made", "returnDisplay": "made"},
        tool_output="made",
    )
    assert happens(3, "stop", prompt_response="Done so.", text="Done so.") == ""
    assert happens(4, "session-end", reason="exit") == ""
    memory = EpisodicMemory(project / ".engramdown")
    [info] = memory.sessions()
    said = [(each.role, each.text) for each in memory.session(info.id).episodes]
    assert ("user", "restart the staging server") in said
    assert ("tool_result", "made") in said
    assert ("assistant", "Done so.") in said


def memory_of(project: Path) -> str:
    pages = (project / ".engramdown" / "memory").glob("*.md")
    return "".join(page.read_text(encoding="utf-8") for page in pages)
