"""The command line called from tests, and a corpus to call it on."""

import contextlib
import io
import subprocess
import sys
from pathlib import Path
from unittest import mock

from typer.testing import CliRunner

from regard import miniature
from regard.cli.main import app, main
from regard.errors import RegardError

TINY = [
    "model.width=16",
    "model.feed_forward_width=32",
    "model.encoder_layers=1",
    "model.decoder_layers=1",
    "text.size=600",
    "train.tokens_per_update=300",
    "train.warmup=2",
    "validation.bleu_sentences=3",
]


def call(*words, stdin=None):
    """Run the command line in this process and return what happened."""
    return CliRunner().invoke(app, [str(word) for word in words], input=stdin, catch_exceptions=True)


def good(*words, stdin=None) -> str:
    """Run a command that goes well and return what it prints."""
    result = call(*words, stdin=stdin)
    assert result.exit_code == 0, (result.output, result.exception)
    return result.stdout


def outside(*words, **options):
    """Run the command line in a process of its own, as a user does."""
    return subprocess.run(
        [sys.executable, "-m", "regard", *map(str, words)], capture_output=True, text=True, timeout=120, **options
    )


def entered(*words, stdin: str | bytes = b"") -> tuple[int, str, str]:
    """Run the entry point in this process and return exit code, output and messages."""
    given = stdin.encode() if isinstance(stdin, str) else stdin
    streams = [io.TextIOWrapper(io.BytesIO(start), encoding="utf-8") for start in (given, b"", b"")]
    with (
        mock.patch.object(sys, "argv", ["regard", *map(str, words)]),
        mock.patch.object(sys, "stdin", streams[0]),
        contextlib.redirect_stdout(streams[1]),
        contextlib.redirect_stderr(streams[2]),
    ):
        try:
            main()
            code = 0
        except SystemExit as left:
            code = left.code
    return code, *map(_written, streams[1:])


def bad(*words, stdin: str | bytes = b"") -> str:
    """Run a mistake through the entry point: exit code 2, one sentence, and an exception that reaches nobody."""
    code, out, errors = entered(*words, stdin=stdin)
    assert (code, out) == (2, ""), (code, out, errors)
    assert errors.startswith("regard: ") and errors.count("\n") == 1, errors
    return errors.removeprefix("regard: ").strip()


def _written(stream: io.TextIOWrapper) -> str:
    stream.flush()
    return stream.buffer.getvalue().decode()


def refused(*words) -> str:
    """Run a mistake and return the sentence it raises, whatever is printed elsewhere."""
    result = call(*words)
    assert isinstance(result.exception, RegardError) and result.stdout == ""
    return str(result.exception)


def corpus(folder: Path, count: int = 120) -> list[str | Path]:
    """Write two small files of sentences and return the words that name them."""
    pairs = miniature.pairs("train", count)
    (folder / "a.de").write_text("".join(pair.source + "\n" for pair in pairs))
    (folder / "a.en").write_text("".join(pair.target + "\n" for pair in pairs))
    return ["--source", folder / "a.de", "--target", folder / "a.en"]
