"""`regard plan`: memory, traffic and time of a run on many devices, before there are any."""

from regard.cli.options import NOTHING, Given, Json, Quiet, Recipe, SettingWords, flags_of, options
from regard.cli.run_options import RUN, run_overrides
from regard.runs.planning.settings import ClusterSettings

CLUSTER = flags_of(ClusterSettings, shows_defaults=True)


@options(*(each for each in RUN if each.name != "device"), *CLUSTER)
def plan(
    recipe: Recipe, settings: SettingWords = None, given: Given = NOTHING, quiet: Quiet = False, json: Json = False
) -> None:
    """Plan a run on many devices: memory, traffic and time of each strategy.

    With --device h200, h100 or a100 the data need not be there. Examples: regard plan language-model --preset gpt2
    --nodes 16 --gpus 8 --device h200 --tokens 1e10 · regard plan translate-miniature --gpus 2
    """
    from regard.api import plan as plan_run
    from regard.cli.console import print_line, progress
    from regard.cli.metrics import print_plan
    from regard.runs.planning.cluster_words import cluster_lines, given_words

    overrides = run_overrides(list(settings or []), Given(given | {"device": None}))
    cluster = given.settings(ClusterSettings).model_dump(exclude_unset=True)
    made = plan_run(recipe, overrides, cluster=cluster, progress=progress(quiet))
    print_plan(made, json)
    if not json and made.cluster is not None:
        print_line("\n".join(cluster_lines(made.cluster, recipe, given_words(overrides))))
