"""`regard translate`: lines in, lines out."""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from regard.cli.options import Beams, Device, Json, Quiet, Run, Threads

CHUNK = 512
"""Lines read ahead: enough to batch by length, few enough that a pipe keeps flowing."""


def translate(
    run: Run,
    texts: Annotated[
        list[str] | None, typer.Argument(metavar="[TEXT]...", help="Text; unset: standard input.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--file", "-f", help="Translate the lines of this file (.gz too).")
    ] = None,
    beams: Beams = None,
    n_best: Annotated[int, typer.Option(min=1, help="Candidates to list with --json; at most the beams.")] = 1,
    device: Device = None,
    threads: Threads = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Translate text: one line out for each line in, in order, blank lines kept."""
    from regard.cli.console import print_json, print_line, progress
    from regard.data.lines import read_lines
    from regard.errors import ConfigError
    from regard.pipelines import load
    from regard.training import use_threads

    use_threads(threads)
    translator = load(run, device or "auto")
    decoding = translator.decoding(beams=beams)
    if n_best > decoding.beams:
        raise ConfigError(f"--n-best {n_best} is more than the {decoding.beams} beams; raise --beams.")
    if texts and file:
        raise ConfigError("Give either texts or --file, not both.")
    reporter = progress(quiet)
    chunks: Iterable[list[str]]
    chunks = [texts] if texts else _chunks(read_lines(file)) if file else _standard_input()
    line = 0
    for chunk in chunks:
        for answer in translator(chunk, progress=reporter, lines_before=line, beams=beams):
            if json:
                candidates = answer.candidates[:n_best]
                found = {"text": answer.text, "score": answer.score, "tokens": answer.tokens}
                print_json({"source": answer.source} | found | {"candidates": candidates}, indent=None)
            else:
                print_line(" ".join(answer.text.splitlines()))  # a line in, a line out
        sys.stdout.flush()
        line += len(chunk)


def _chunks(lines: list[str]) -> Iterator[list[str]]:
    return (lines[start : start + CHUNK] for start in range(0, len(lines), CHUNK))


def _standard_input() -> Iterator[list[str]]:
    """Yield lines in chunks; a person at the keyboard gets an answer after each line."""
    from regard.errors import DataError

    size = 1 if sys.stdin.isatty() else CHUNK
    chunk: list[str] = []
    number = 0
    for number, raw in enumerate(sys.stdin.buffer, start=1):
        try:
            line = raw.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise DataError(f"standard input: line {number} is not UTF-8 (byte 0x{raw[error.start]:02x}).") from None
        chunk.append(line.rstrip("\r\n"))
        if len(chunk) == size:
            yield chunk
            chunk = []
    if chunk:
        yield chunk
