"""The pages of the studio are built when the wheel is; a clone builds them with `make studio`."""

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class StudioPages(BuildHookInterface):
    """Builds the pages with the Node that is a build requirement, so that users of the wheel need none."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the pages of a wheel; an editable installation takes those of the clone."""
        if version == "editable":
            return
        sys.path.insert(0, str(Path(self.root) / "web"))
        from build import build

        build()
