"""Settings of the studio: those of a server, the folder of runs, and whether a browser opens."""

from pathlib import Path

from pydantic import Field

from regard.server.settings import ServerSettings


class StudioSettings(ServerSettings):
    """Settings of the studio."""

    runs: Path = Path("runs")
    """Folder of runs; nothing outside of it is read or written."""
    port: int = Field(8010, ge=0, le=65535)
    """Port to listen on; 0: any free one."""
    browser: bool = True
    """Open the studio in the default browser."""
    memory: float | None = Field(4.0, gt=0)
    """GiB of weights to keep loaded; the least recently used model makes room."""
    timeout: float = Field(120.0, gt=0, le=86400)
    """Seconds that a request may take."""
    log: str = Field("none", pattern="text|json|none")  # type: ignore[assignment]
    """Log of requests on standard error: text, json (an object a line) or none."""
