"""`regard verify-resume`: proof on the user's own recipe and machine."""

from typing import Annotated

import typer

from regard.cli.options import (
    Data,
    Device,
    InitFrom,
    Json,
    LabelColumn,
    Preset,
    Quiet,
    SettingWords,
    Source,
    SourceColumn,
    Target,
    TargetColumn,
    Text,
    TextColumn,
    Threads,
    ValidData,
    run_overrides,
)


def verify_resume(
    recipe: Annotated[str, typer.Argument(help="A recipe's name (see `regard recipes`), a TOML file, or a task.")],
    settings: SettingWords = None,
    source: Source = None,
    target: Target = None,
    data: Data = None,
    valid_data: ValidData = None,
    text: Text = None,
    source_column: SourceColumn = None,
    target_column: TargetColumn = None,
    init_from: InitFrom = None,
    text_column: TextColumn = None,
    label_column: LabelColumn = None,
    preset: Preset = None,
    steps: Annotated[int, typer.Option(min=2, help="Updates to train, with an interruption in the middle.")] = 20,
    device: Device = None,
    threads: Threads = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Train twice, once with an interruption, and compare; on a CPU any difference means exit code 1."""
    flags = dict(locals())
    from regard.cli.console import print_json, print_line, print_table, progress
    from regard.runs.planning.recipes import find_recipe
    from regard.runs.verify import verify_resume as verify

    overrides = run_overrides(list(settings or []), flags)
    found = verify(find_recipe(recipe), overrides, steps, progress(quiet))
    if json:
        print_json(vars(found) | {"is_exact": found.is_exact})
    else:
        figures = (("weights", found.weights), ("optimizer", found.optimizer), ("losses", found.losses))
        print_table(("what", "largest difference"), [(name, f"{value:.3g}") for name, value in figures], right=[1])
        same = "the same to the bit" if found.is_exact else "not the same to the bit"
        print_line(f"{found.steps} steps, interrupted after {found.interrupted_at}, on {found.device}: {same}.")
    if found.device == "cpu" and not found.is_exact:
        raise typer.Exit(1)
