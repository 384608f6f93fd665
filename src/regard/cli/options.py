"""Options that several verbs share."""

from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress and no messages.")]
Device = Annotated[str | None, typer.Option(help="auto, cpu, cuda, cuda:N or mps.")]
Threads = Annotated[int | None, typer.Option(min=1, help="CPU threads; unset: one a core.")]
Beams = Annotated[int | None, typer.Option(min=1, help="Hypotheses kept; 1 is greedy. Unset: the run's own setting.")]
Ensemble = Annotated[
    list[str] | None, typer.Option(help="Another run to decide with, by the mean of probabilities; may be repeated.")
]
Run = Annotated[str, typer.Argument(metavar="RUN", help="The folder of a run, or of one checkpoint.")]
SettingWords = Annotated[
    list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="Settings to change, such as train.steps=1000.")
]
