"""`regard plan`: memory, traffic and time of a run on many devices, before there are any."""

from regard.cli.options import JSON, QUIET, Given, Recipe, SettingWords, flags_of, options
from regard.cli.run_options import RUN, run_overrides
from regard.runs.planning.settings import ClusterSettings

CLUSTER = flags_of(ClusterSettings, shows_defaults=True)


@options(QUIET, JSON, *(each for each in RUN if each.name != "device"), *CLUSTER)
def plan(given: Given, recipe: Recipe, settings: SettingWords = None) -> None:
    """Plan a run on many devices: memory, traffic and time of each strategy.

    With --device h200, h100 or a100 the data need not be there. Examples: regard plan language-model --preset gpt2
    --nodes 16 --gpus 8 --device h200 --tokens 1e10 · regard plan translate-miniature --gpus 2
    """
    from regard.api import plan as plan_run
    from regard.cli.metrics import plan_parts
    from regard.runs.planning.cluster_words import cluster_lines, given_words

    overrides = run_overrides(settings, Given(given | {"device": None}))
    cluster = given.settings(ClusterSettings).model_dump(exclude_unset=True)
    made = plan_run(recipe, overrides, cluster=cluster, progress=given.progress)
    words = [] if made.cluster is None else cluster_lines(made.cluster, recipe, given_words(overrides))
    given.show(made.to_dict(), *plan_parts(made), *words)
