"""`regard data`: the embedded data sets, and the tokenization of text."""

from dataclasses import replace

from regard.cli.console import print_line
from regard.cli.options import NOTHING, Given, Json, Quiet, Recipe, SettingWords, flags_of, options
from regard.cli.run_options import PROCESSES, RUN, run_overrides
from regard.cli.verb import Verbs
from regard.data.settings.miniature import MiniatureSettings
from regard.data.settings.text import TextData

app = Verbs(help="Print embedded data sets, or tokenize text before a training.", no_args_is_help=True)


@app.command("miniature")
@options(*flags_of(MiniatureSettings, shows_defaults=True))
def miniature(given: Given = NOTHING, json: Json = False) -> None:
    """Print data of the embedded miniature world: sentence pairs (German TAB English), stories, or labeled examples.

    Examples: regard data miniature --set reviews --count 1000 > reviews.csv · regard data miniature --set entities
    """
    from json import dumps

    from regard.errors import ConfigError
    from regard.miniature import pairs
    from regard.miniature.export import exported

    chosen = given.settings(MiniatureSettings)
    if chosen.stories and chosen.set is not None:
        raise ConfigError(f"--stories and --set {chosen.set} name two data sets; leave one of them out.")
    if name := "stories" if chosen.stories else chosen.set:
        for line in exported(name, chosen.split, chosen.count, chosen.seed, as_rows=json):
            print_line(line)
        return
    for pair in pairs(chosen.split, chosen.count, chosen.seed):
        print_line(dumps(pair._asdict(), ensure_ascii=False) if json else f"{pair.source}\t{pair.target}")


@app.command("tokenize")
@options(*RUN, PROCESSES[0], *(replace(each, name="out") for each in flags_of(TextData, "folder")))
def tokenize(
    recipe: Recipe, settings: SettingWords = None, given: Given = NOTHING, quiet: Quiet = False, json: Json = False
) -> None:
    """Tokenize the text of a run; any number of hosts may do this at once into one folder, and be killed at any time.

    Example: regard data tokenize language-model --text books/ --out corpora/books --processes 4
    """
    from regard.cli.console import progress, show
    from regard.processes import is_main_process
    from regard.runs.planning.recipes import find_recipe, resolve_run
    from regard.runs.processes import start_processes
    from regard.runs.tokenize import tokenize_run

    own = {"data.folder": given["out"], "machine.processes": given["processes"]}
    overrides = {name: value for name, value in own.items() if value is not None} | run_overrides(
        settings or [], given
    )
    chosen = resolve_run(find_recipe(recipe), overrides).settings
    start_processes(chosen.machine)
    made = tokenize_run(chosen, progress(quiet))
    if is_main_process():
        show(json, vars(made), *made.lines)
