"""The command `regard`: one verb a file, no logic that another caller could want."""

import errno
import os
import sys
from io import TextIOWrapper
from typing import Annotated, Any, NoReturn

import typer

from regard.cli import (
    answer,
    average,
    bleu,
    card,
    choose,
    classify,
    config,
    convert,
    data,
    doctor,
    embed,
    evaluate,
    export,
    features,
    fill,
    generate,
    import_,
    inspect,
    presets,
    quickstart,
    race,
    recipes,
    regress,
    runs,
    score,
    similar,
    tag,
    tokenizer,
    train,
    transfer,
    translate,
    vectors,
    verify_resume,
)
from regard.errors import RegardError
from regard.version import __version__

UsageError: Any = typer.BadParameter.__base__  # of the click that typer brings along

INTERRUPTED = 130

app = typer.Typer(
    name="regard",
    help="Train models on your own text, look inside them and use them: translators, language models, classifiers.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("quickstart")(quickstart.quickstart)
app.command("doctor")(doctor.doctor)
app.command("train")(train.train)
app.command("race")(race.race)
app.command("transfer")(transfer.transfer)
app.command("translate")(translate.translate)
app.command("generate")(generate.generate)
app.command("classify")(classify.classify)
app.command("regress")(regress.regress)
app.command("tag")(tag.tag)
app.command("answer")(answer.answer)
app.command("choose")(choose.choose)
app.command("fill")(fill.fill)
app.command("embed")(embed.embed)
app.command("similar")(similar.similar)
app.command("inspect")(inspect.inspect)
app.command("features")(features.features)
app.add_typer(vectors.app, name="vectors")
app.command("evaluate")(evaluate.evaluate)
app.command("score")(score.score)
app.command("average")(average.average)
app.command("verify-resume")(verify_resume.verify_resume)
app.command("bleu")(bleu.bleu)
app.add_typer(runs.app, name="runs")
app.command("card")(card.card)
app.add_typer(tokenizer.app, name="tokenizer")
app.command("recipes")(recipes.recipes)
app.command("presets")(presets.presets)
app.add_typer(config.app, name="config")
app.add_typer(data.app, name="data")
app.command("export")(export.export)
app.command("convert")(convert.convert)
app.command("import")(import_.import_)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"regard {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and stop.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line; a user's mistake is one sentence on standard error and exit code 2."""
    # OpenMP's threads spin while they wait, which starves the thread that works as soon as another program wants
    # a core; a short spin loses nothing on an idle machine. Read when torch loads.
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", "1000")
    for stream in (sys.stdout, sys.stderr):  # text is UTF-8, whatever the locale says
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        code = app(standalone_mode=False)
        if code == INTERRUPTED:  # typer's answer to Ctrl-C; a run that could be saved has left with its own words
            _fail("stopped.", INTERRUPTED)
        sys.exit(code)
    except UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            error.show()
            sys.exit(2)
        where = error.ctx.command_path if error.ctx else "regard"
        _fail(f"{error.format_message().rstrip('.')}; see {where} --help.")
    except (typer.Abort, KeyboardInterrupt):
        _fail("stopped.", INTERRUPTED)
    except BrokenPipeError:  # the reader of our output has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except RegardError as error:
        _fail(str(error))
    except OSError as error:
        if error.filename is None and error.errno is None:
            raise
        where = f"{error.filename}: " if error.filename else ""
        way_out = "free some space" if error.errno == errno.ENOSPC else "check the path and its permissions"
        _fail(f"{where}{error.strerror}; {way_out}.")


def _fail(sentence: str, code: int = 2) -> NoReturn:
    """Say what is wrong, once however many processes torchrun has started, and leave."""
    if os.environ.get("RANK", "0") == "0":
        typer.echo(f"regard: {sentence}", err=True)
    sys.exit(code)


if __name__ == "__main__":
    main()
