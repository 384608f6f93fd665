"""`regard presets`: the model presets and their numbers of parameters."""

from typing import Annotated

import typer

from regard.cli.options import Json


def presets(
    vocabulary: Annotated[
        int, typer.Option(min=1, help="Size in tokens of the shared vocabulary that parameters are counted with.")
    ] = 37_000,
    json: Json = False,
) -> None:
    """List the model presets (model.preset) with their exact numbers of parameters."""
    from regard.cli.console import print_json, print_table
    from regard.models.presets import presets as all_presets
    from regard.runs.planning.plan import preset_parameters

    rows = [(name, preset_parameters(name, vocabulary), preset.about) for name, preset in all_presets().items()]
    if json:
        print_json([{"preset": name, "parameters": count, "about": about} for name, count, about in rows])
    else:
        table = [(name, f"{count:,}", about) for name, count, about in rows]
        print_table(("preset", f"parameters at {vocabulary:,} tokens", "about"), table, right=[1])
