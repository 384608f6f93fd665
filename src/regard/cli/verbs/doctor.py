"""`regard doctor`: checks of the data and a trial of the training, before a run."""

from typing import Annotated, Any

import typer

from regard.cli.options import (
    Data,
    Device,
    InitFrom,
    Json,
    LabelColumn,
    Preset,
    Quiet,
    Seed,
    SettingWords,
    Source,
    SourceColumn,
    Target,
    TargetColumn,
    Text,
    TextColumn,
    Threads,
    ValidData,
    ValidSource,
    ValidTarget,
    ValidText,
    run_overrides,
)

STYLES = {"ok": "green", "note": "cyan", "warning": "yellow", "problem": "red"}


def doctor(
    recipe: Annotated[str, typer.Argument(help="Recipe name, TOML file, or task, as for `regard train`.")],
    settings: SettingWords = None,
    source: Source = None,
    target: Target = None,
    data: Data = None,
    valid_source: ValidSource = None,
    valid_target: ValidTarget = None,
    valid_data: ValidData = None,
    source_column: SourceColumn = None,
    target_column: TargetColumn = None,
    text: Text = None,
    valid_text: ValidText = None,
    init_from: InitFrom = None,
    text_column: TextColumn = None,
    label_column: LabelColumn = None,
    preset: Preset = None,
    lr_finder: Annotated[bool, typer.Option("--lr-finder", help="Also run a learning-rate range test.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Check the data only; skip the trial updates.")] = False,
    seed: Seed = None,
    device: Device = None,
    threads: Threads = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Check the data and try out the training before a run; exit code 1 if there is a problem.

    Examples: regard doctor translate --source a.de --target a.en · regard doctor translate-miniature --lr-finder
    · regard doctor language-model --text books/
    """
    flags = dict(locals())
    from regard.cli.console import print_json, progress
    from regard.studies.doctor.examine import doctor as examine

    overrides = run_overrides(list(settings or []), flags)
    report = examine(recipe, overrides, lr_finder=lr_finder, quick=quick, progress=progress(quiet))
    if json:
        print_json({"severity": report.severity, "findings": report.findings})
    else:
        print_report(report)
    if report.has_problem:
        raise typer.Exit(1)


def print_report(report: Any) -> None:
    """Print the findings by kind, each with its examples and its remedy, and a summary."""
    import sys

    from rich.console import Console
    from rich.text import Text

    from regard.escaping import printable

    console = Console(file=sys.stdout, highlight=False, soft_wrap=True)
    kind = None
    for finding in report.findings:
        if finding.check != kind:
            console.print(Text(finding.check, style="bold"))
            kind = finding.check
        console.print(
            Text(f"  {finding.severity:8}", style=STYLES[finding.severity]) + Text(printable(finding.sentence))
        )
        for example in finding.examples:
            console.print(Text(f"            {printable(str(example))}", style="dim"))
        if finding.way_out:
            console.print(Text(f"          → {printable(finding.way_out)}"))
    counts = [(len(report.of(severity)), severity) for severity in ("problem", "warning", "note")]
    parts = [f"{count} {severity}{'s' if count > 1 else ''}" for count, severity in counts if count]
    console.print(Text(f"{', '.join(parts)}." if parts else "No problems.", style=STYLES[report.severity]))
