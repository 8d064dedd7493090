"""Two scopes on the disk, and a cortex over them, as the tests of the cortex have them."""

from __future__ import annotations

from tests.cortex.conftest import copilot, cortex, person, project

__all__ = ["copilot", "cortex", "person", "project"]
