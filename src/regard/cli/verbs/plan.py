"""`regard plan`: memory, traffic and time of a run on many devices, before there are any."""

from regard.cli.options import JSON, QUIET, Given, Recipe, SettingWords, options
from regard.cli.run_options import RUN, run_overrides
from regard.runs.planning.settings import ClusterSettings


@options(QUIET, JSON, *(each for each in RUN if each.name != "device"), ClusterSettings)
def plan(given: Given, recipe: Recipe, settings: SettingWords = None) -> None:
    """Plan a run on many devices: memory, traffic and time of each strategy.

    Example: regard plan language-model --preset gpt2 --nodes 16 --gpus 8 --device h200 --tokens 1e10
    """
    from regard.api import plan as plan_run
    from regard.cli.metrics import plan_parts
    from regard.runs.planning.cluster_words import cluster_lines, given_words

    overrides = run_overrides(settings, Given(given | {"device": None}))
    cluster = given.settings(ClusterSettings).model_dump(exclude_unset=True)
    made = plan_run(recipe, overrides, cluster=cluster, progress=given.progress)
    given.show(made.to_dict(), *plan_parts(made), *cluster_lines(made.cluster, recipe, given_words(overrides)))
