"""`regard presets`: models by name."""

from typing import Annotated

import typer

from regard.cli.options import Json


def presets(
    vocabulary: Annotated[int, typer.Option(min=1, help="Shared tokens to count parameters with.")] = 37_000,
    json: Json = False,
) -> None:
    """List the models that can be chosen as model.preset, with their exact number of parameters."""
    from regard.cli.console import print_json, print_table
    from regard.models.presets import presets as known
    from regard.runs.planning.plan import preset_parameters

    rows = [(name, preset_parameters(name, vocabulary), preset.about) for name, preset in known().items()]
    if json:
        print_json([{"preset": name, "parameters": count, "about": about} for name, count, about in rows])
    else:
        table = [(name, f"{count:,}", about) for name, count, about in rows]
        print_table(("preset", f"parameters at {vocabulary:,} tokens", "about"), table, right=[1])
