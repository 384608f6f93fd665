"""`regard data`: the embedded data sets."""

from regard.cli.console import print_line
from regard.cli.options import JSON, Given, options
from regard.cli.verb import Verbs
from regard.data.settings.miniature import MiniatureSettings

app = Verbs(help="Print embedded data sets.", no_args_is_help=True)


@app.callback()
def _data() -> None:
    pass


@app.command("miniature")
@options(JSON, MiniatureSettings)
def miniature(given: Given) -> None:
    """Print data of the embedded miniature world: sentence pairs (German TAB English), stories, or labeled examples.

    Examples: regard data miniature --set reviews --count 1000 > reviews.csv · regard data miniature --set entities
    """
    from regard.errors import ConfigError
    from regard.miniature.export import exported

    chosen = given.settings(MiniatureSettings)
    if chosen.stories and chosen.set is not None:
        raise ConfigError(f"--stories and --set {chosen.set} name two data sets; leave one of them out.")
    name = "stories" if chosen.stories else chosen.set or "pairs"
    for line in exported(name, chosen.split, chosen.count, chosen.seed, as_rows=bool(given["json"])):
        print_line(line)
