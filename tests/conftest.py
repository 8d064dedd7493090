"""What every test gets: its own home, a clean environment, and programs that run this checkout.

Promises: no test reads or writes the real home folder, or an ``.engramdown`` above the checkout.
"""

from __future__ import annotations

import gc
import os
import re
import signal
import sys
import time
from collections.abc import Callable, Generator, Iterator
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Final, TypeVar

import freezegun
import pytest
from hypothesis import HealthCheck, settings

from engramdown import Cortex
from tests.cortex.person import Person

ROOT: Final = Path(__file__).resolve().parent.parent

T = TypeVar("T")

# For how many seconds a test waits for what must come, however busy the machine is.
PATIENCE: Final = 60

Opening = Callable[..., Cortex]
"""Opens a cortex on one project, as often as it is called."""

# What a person may have set and a test must not see.
_PERSONAL: Final = (
    "COLUMNS",
    "EDITOR",
    "FORCE_COLOR",
    "LINES",
    "NO_COLOR",
    "PYTHONDONTWRITEBYTECODE",  # every program that a test starts would compile the package anew
    "PYTHONWARNINGS",
    "VISUAL",
    "XDG_CONFIG_HOME",
)

# Each of these is one long test, or nearly.
_LONG: Final = ("tests/crash/test_sleep.py", "tests/test_readme.py", "tests/episodes/test_kills.py")

# Where a law takes long, or is one of the experiments that only the whole suite does.
_SLOW: Final = ("tests/attacks/", "tests/benchmarks/", "tests/crash/", "tests/fuzz/")

# An expression that asks for tests with a mark of ours, and for no others.
_ASKED: Final = re.compile(
    r"\(?((?:fast|slow|soak)(?: or (?:fast|slow|soak))*)\)?(?: and not (?:fast|slow|soak))*"
)

# Where power is cut, and what is written must wait for the disk.
_DURABLE: Final = ("tests/crash/", "tests/storage/")

# No deadline and no health check of speed: the machines that run this are shared.
_PATIENT: Final = settings(
    deadline=None,
    derandomize=False,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("default", _PATIENT, max_examples=25)
# What is red there is red for whoever looks into it; new examples are sought at every desk. The
# oldest Python, which runs the laws of the pure rooms alone, tries more of them.
_EXAMPLES: Final = 50 if sys.version_info < (3, 12) else 20
settings.register_profile("ci", _PATIENT, max_examples=_EXAMPLES, derandomize=True)
settings.register_profile("fast", _PATIENT, max_examples=10, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")

# freezegun looks at every name of every module. To look at theirs imports more of them, in which
# time stands still already, and what is imported then stays broken. The others are four thousand
# modules that ask no clock for us, and half of what to freeze takes.
freezegun.configure(
    extend_ignore_list=["anthropic", "langchain_core", "langgraph", "langsmith", "openai"]
)

# Pydantic takes a clock that stands still, when it is first imported, for the type of all times.
import_module("pydantic._internal._generate_schema")

# Whether a module has new names, freezegun finds out from all of them, of thousands of modules, as
# often as the clock stops; their number tells it as well, in half the time.
vars(freezegun.api)["_get_module_attributes_hash"] = lambda module: (
    f"{id(module)}-{len(getattr(module, '__dict__', ()))}"
)

# A shell starts what runs in the background deaf to Ctrl-C; so would be every program of a test.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Run the whole suite on all processors, and a few files of it right here.

    There is one worker more than processors, as tests spend a fifth of their time waiting, unless
    PYTEST_XDIST_AUTO_NUM_WORKERS says how many. To start the workers takes longer than most files
    do.
    """
    if config.args_source != config.ArgsSource.TESTPATHS:
        return 0
    is_said = "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ
    return None if is_said else (os.cpu_count() or 1) + 1


def pytest_configure(config: pytest.Config) -> None:
    """Try each law on a few examples if only what is fast was asked for."""
    if config.option.markexpr == "fast":
        settings.load_profile("fast")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Read no file in which nothing is of what was asked for: most of a minute would go there."""
    asked = _ASKED.fullmatch(config.option.markexpr)
    if not asked or not collection_path.name.startswith("test_"):
        return None
    name = collection_path.relative_to(ROOT).as_posix()
    text = collection_path.read_text(encoding="utf-8")
    return None if any(_may_have(mark, name, text) for mark in asked[1].split(" or ")) else True


def _may_have(mark: str, name: str, text: str) -> bool:
    """Whether a test of the file ``name`` may have a mark, as it is written there or set here."""
    if mark == "fast":
        is_law = "@given" in text or "TestCase" in text
        return name.startswith("tests/cli/") or (is_law and not name.startswith(_SLOW))
    return f"mark.{mark}" in text or (mark == "slow" and name.startswith("tests/crash/"))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage while tests are collected, and never again in what they are made of."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is fast, and begin with what takes longest.

    Fast are the laws, which are the tests with generated examples, and of each file in tests/cli
    the first test, which is the story of a command. Slow are the journeys through the page, but for
    the first of each file. No processor waits for another one at the end if the longest tests come
    first.
    """
    files: set[Path] = set()
    for item in items:
        is_story = item.nodeid.startswith("tests/cli/") and item.path not in files
        is_law = getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
        if is_story or (is_law and not item.nodeid.startswith(_SLOW)):
            item.add_marker("fast")
        is_journey = item.nodeid.startswith("tests/web/journeys/") and item.path in files
        if is_journey or item.nodeid.startswith("tests/crash/"):
            item.add_marker("slow")
        files.add(item.path)
    items.sort(key=lambda item: not item.nodeid.startswith(_LONG))


@pytest.fixture(scope="session")
def fresh_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return the paths of folders that do not exist yet, without end.

    ``tmp_path_factory.mktemp`` lists all earlier folders to find the next number, which takes
    longer than most tests once there are thousands.
    """
    base = tmp_path_factory.mktemp("fresh", numbered=False).resolve()
    return (base / str(number) for number in count())


@pytest.fixture
def tmp_path(fresh_folders: Iterator[Path], request: pytest.FixtureRequest) -> Path:
    """Return an empty folder for this test, instead of pytest's own, for the same reason."""
    folder = next(fresh_folders) / re.sub(r"\W", "_", request.node.name)[:30]
    folder.mkdir(parents=True)
    return folder


@pytest.fixture(scope="session", autouse=True)
def patient_search() -> None:
    """Let no context leave out what matches a message because this machine is busy."""
    # Imported here: coverage has begun.
    vars(import_module("engramdown.context.relevant"))["_SECONDS"] = PATIENCE


def soon(look: Callable[[], T]) -> T:
    """Return what ``look`` returns as soon as that counts as true."""
    deadline = time.monotonic() + PATIENCE
    while not (found := look()):
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)
    return found


@pytest.fixture(autouse=True)
def isolated_home(
    fresh_folders: Iterator[Path], monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Path:
    """Give the test an empty home, without a global scope, and start it in an empty folder there.

    ``ENGRAMDOWN_HOME`` is ``<home>/.engramdown``, which does not exist yet. Nothing waits for the
    disk, except where tests are about that.
    """
    folder = next(fresh_folders)
    folder.mkdir()
    start = folder / "start"
    start.mkdir()
    if not request.node.nodeid.startswith(_DURABLE):
        monkeypatch.setattr("os.fsync", lambda _: None)
    for name in os.environ:
        if name.startswith("ENGRAMDOWN_") or name in _PERSONAL:
            monkeypatch.delenv(name)
    # What learns when a session ends goes on after a test that did not ask for it.
    monkeypatch.setenv("ENGRAMDOWN_AT_SESSION_END", "off")
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("USERPROFILE", str(folder))
    monkeypatch.setenv("ENGRAMDOWN_HOME", str(folder / ".engramdown"))
    monkeypatch.chdir(start)
    return folder


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that holds ``engramdown`` and ``egd``, as an installer would write them."""
    folder = tmp_path_factory.mktemp("bin")
    for name in ("engramdown", "egd"):
        program = folder / name
        program.write_text(
            f"#!{sys.executable}\n"
            "import sys\n"
            "from engramdown.cli.entry import main\n"
            "sys.exit(main())\n",
            encoding="utf-8",
        )
        program.chmod(0o755)
    return folder


@pytest.fixture
def child_env(isolated_home: Path, programs: Path) -> dict[str, str]:
    """Return the environment for a program: this checkout, this test's home, 80 plain columns."""
    search = [str(programs), str(Path(sys.executable).parent), os.environ.get("PATH", "")]
    return {
        **os.environ,
        "COLUMNS": "80",
        "ENGRAMDOWN_HOOK_SECONDS": "60",
        "GIT_AUTHOR_EMAIL": "you@example.org",
        "GIT_AUTHOR_NAME": "You",
        "GIT_COMMITTER_EMAIL": "you@example.org",
        "GIT_COMMITTER_NAME": "You",
        "GIT_CONFIG_GLOBAL": str(isolated_home / ".gitconfig"),
        "NO_COLOR": "1",
        "PATH": os.pathsep.join(search),
        "PYTHONPATH": str(ROOT),
        "PYTHONWARNDEFAULTENCODING": "1",
        "TERM": "dumb",
    }


@pytest.fixture(scope="session")
def soak_seconds() -> float:
    """Return how long a test marked ``soak`` runs, in seconds: SOAK_SECONDS, by default 10."""
    return float(os.environ.get("SOAK_SECONDS", "10"))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return the folder of a project without memory."""
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def cortex(project: Path, isolated_home: Path) -> Cortex:
    """Open both scopes in autopilot; durability is not what is tested here."""
    home = isolated_home / ".engramdown"
    home.mkdir()
    (home / "config.toml").write_text('durability = "fast"\n', encoding="utf-8")
    return Cortex.open(project=project, mode="autopilot")


@pytest.fixture
def copilot(cortex: Cortex) -> Cortex:
    """Open both scopes in copilot."""
    cortex.mode = "copilot"
    return cortex


@pytest.fixture
def person(project: Path) -> Person:
    """Return somebody who edits the project's memory."""
    return Person(project / ".engramdown")


@pytest.fixture
def at_home(isolated_home: Path) -> Person:
    """Return somebody who edits the global memory."""
    return Person(isolated_home / ".engramdown")


@pytest.fixture
def opened(tmp_path: Path) -> Opening:
    """Return what opens a cortex on one project, as often as it is called."""
    (tmp_path / "project" / ".engramdown").mkdir(parents=True)

    def opening(model: object = None, config: str = "", at_home: str = "") -> Cortex:
        for folder, text in (("project/.engramdown", config), ("home", at_home)):
            if text:
                (tmp_path / folder).mkdir(exist_ok=True)
                (tmp_path / folder / "config.toml").write_text(text, encoding="utf-8")
        return Cortex.open(project=tmp_path / "project", home=tmp_path / "home", model=model)

    return opening
