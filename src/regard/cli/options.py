"""Options that several verbs share."""

from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress and no messages.")]
Device = Annotated[str | None, typer.Option(help="auto, cpu, cuda, cuda:N or mps.")]
Threads = Annotated[int | None, typer.Option(min=1, help="CPU threads; unset: one a core.")]
Source = Annotated[str | None, typer.Option(help="File with one source sentence a line (.gz too).")]
Target = Annotated[str | None, typer.Option(help="File with the translations, line by line.")]
Data = Annotated[str | None, typer.Option(help="A .tsv, .csv or .jsonl of pairs (.gz too), or hf:NAME.")]
ValidSource = Annotated[str | None, typer.Option(help="Validation source; unset: carved out.")]
ValidTarget = Annotated[str | None, typer.Option(help="Validation target.")]
Preset = Annotated[str | None, typer.Option(help="The model (see `regard presets`).")]
Seed = Annotated[int | None, typer.Option(help="Every random choice follows from it.")]
Beams = Annotated[int | None, typer.Option(min=1, help="Hypotheses kept; 1 is greedy. Unset: the run's own setting.")]
Run = Annotated[str, typer.Argument(metavar="RUN", help="The folder of a run, or of one checkpoint.")]
SettingWords = Annotated[
    list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="Settings to change, such as train.steps=1000.")
]
