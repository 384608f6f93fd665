"""Settings of what is done with runs: averages, exports, verifications."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from regard.config.settings import Settings


class AverageSettings(Settings):
    """The checkpoints that are averaged, and the folder of the result."""

    count: int | None = Field(None, ge=2)
    """Number of checkpoints of the run (default: all that were kept)."""
    of: Literal["last", "best"] = "last"
    """last: the newest checkpoints; best: the best by validation."""
    out: Path | None = None
    """Folder of the averaged checkpoint (default: RUN/averaged)."""


class ExportSettings(Settings):
    """The format of an export."""

    to: str = "hf"
    """hf: Hugging Face transformers, in the matching architecture; or an installed exporter."""


class ConvertSettings(Settings):
    """The format and the place of what is converted."""

    to: str = "hf"
    """Format: hf (Hugging Face transformers), checkpoint (one file of weights), word2vec[-binary] or glove."""
    out: Path | None = None
    """Output folder, or word vector file (.gz compresses it), which must not exist (default: RUN plus the format)."""


class VerifySettings(Settings):
    """The length of a verification of exact resuming."""

    steps: int = Field(20, ge=2)
    """Training steps, with an interruption halfway."""


class DoctorSettings(Settings):
    """The trials of an examination before a run."""

    lr_finder: bool = False
    """Also run a learning-rate range test."""
    quick: bool = False
    """Check the data only; skip the trial updates."""


class DeleteSettings(Settings):
    """The confirmation of a deletion."""

    yes: bool = False
    """Delete without asking for confirmation."""
    force: bool = False
    """Delete a run even if another machine may still be training it."""


class StartSettings(Settings):
    """The beginning of a training: a new folder, or a run that is resumed."""

    out: Path | None = None
    """Run folder (default: runs/RECIPE)."""
    resume: Path | None = None
    """Resume this run instead of starting a new one."""
    force: bool = False
    """With --resume: resume even if a data file has changed."""
    dry_run: bool = False
    """Load and tokenize the data and print the plan and the estimated time, without training."""
    tokenize_only: bool = False
    """Tokenize the running text and end; any number of hosts may do this at once into one data.folder."""


class QuickstartSettings(Settings):
    """The run of a quick start."""

    out: Path = Path("runs/quickstart")
    """Run folder."""
    fresh: bool = False
    """Train again, overwriting an existing run."""
