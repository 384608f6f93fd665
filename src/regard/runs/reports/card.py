"""The card of a run: a README that says what it is, how good, of what, on what, and how to use and repeat it."""

import json
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from regard.checkpoint.identity import model_hash
from regard.checkpoint.records import CONFIG
from regard.config.overrides import parse_overrides
from regard.config.settings import flatten
from regard.errors import CheckpointError, RunError
from regard.escaping import as_markdown_paragraph, in_markdown
from regard.progress import Progress
from regard.runs.reports.curves import CURVES, draw_curves
from regard.runs.reports.markdown import Markdown, began, code, codes, fenced, table
from regard.runs.scores.passport import decoding_words, passports_of
from regard.runs.scores.records import TranslationPassport
from regard.runs.store.folder import Run
from regard.runs.store.listing import state_of
from regard.tasks.elmo.card import elmo_data, elmo_scores, elmo_use
from regard.tasks.finetune.card import tuning_data, tuning_scores, tuning_use
from regard.tasks.language_model.card import text_data, text_scores, text_use
from regard.tasks.masked_lm.card import masked_data, masked_scores, masked_use
from regard.tasks.word_vectors.card import vectors_data, vectors_scores, vectors_use
from regard.training.metrics_log import METRICS, read_metrics

CARD = "README.md"
MARK = "<!-- Written by regard; `regard card` writes it anew, so changes made here are lost. -->"


Section = Callable[[Run], list[str]]

SECTIONS: dict[str, tuple[Section, Section, Section]] = {
    **dict.fromkeys(("answer", "choose", "classify", "regress", "tag"), (tuning_use, tuning_scores, tuning_data)),
    "elmo": (elmo_use, elmo_scores, elmo_data),
    "language-model": (text_use, lambda run: text_scores(run.record), lambda run: text_data(run.record)),
    "masked-language-model": (masked_use, masked_scores, masked_data),
    "vectors": (vectors_use, vectors_scores, vectors_data),
}
"""How to use it, its scores and its data, for tasks whose cards say these differently from a translator's."""


def write_card(run: Run) -> Path:
    """Write a run's card and its curves from what the folder holds, and return the card's path."""
    path = run.path / CARD
    record = run.record
    if path.exists() and MARK not in path.read_text(encoding="utf-8", errors="replace"):
        raise RunError(f"{path}: this was not written by regard; move it away to make room for the card.")
    if not {"data", "machine", "parameters"} <= set(record):
        raise RunError(f"{run.path}: this run has not begun to train ({state_of(record)}), so it has no card yet.")
    metrics, task = read_metrics(run.path / METRICS), record["task"]
    draw_curves(metrics, run.path / CURVES, task)
    use, scores, data = SECTIONS.get(task, (_use, _scores, _data))
    sections = [
        _head(run, record),
        use(run),
        scores(run),
        ["## Curves", "", f"![loss, a score, learning rate and speed]({CURVES})"],
        data(run),
        _settings(record),
        _machine(record, metrics),
        _repeat(run, record),
    ]
    path.write_text("\n\n".join("\n".join(section) for section in sections) + "\n", encoding="utf-8")
    return path


def leave_card(run: Run, progress: Progress) -> None:
    """Write the card of a run that has just ended; that it cannot be written does not spoil the run."""
    try:
        write_card(run)
    except (OSError, RunError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        progress.warn(f"{run.path}: the card could not be written ({reason}); regard card {run.path} tries again.")


def _head(run: Run, record: dict[str, Any]) -> list[str]:
    settings = record["settings"]
    preset = settings["model"].get("preset") or settings["model"].get("family", "model")
    about = [as_markdown_paragraph(str(settings["about"])), ""] if settings.get("about") else []
    steps = f" after {record['steps']:,} steps, best at step {record['best_step']:,}" if "steps" in record else ""
    return [
        MARK,
        f"# {in_markdown(run.path.name)}",
        "",
        *about,
        f"A model for the task {code(record['task'])}: {in_markdown(str(preset))}, "
        f"{record['parameters']:,} parameters, trained by regard {record['regard']}; {state_of(record)}{steps}.",
    ]


def _use(run: Run) -> list[str]:
    path = str(run.path)
    return [
        "## Use it",
        "",
        *fenced(
            "sh",
            f'regard translate {shlex.quote(path)} "your text"',
        ),
        "",
        *fenced(
            "python",
            "import regard",
            "",
            f"translator = regard.load({json.dumps(path, ensure_ascii=False)})",
            'translator("your text").text',
        ),
    ]


def _scores(run: Run) -> list[str]:
    passports = passports_of(run, TranslationPassport)
    if not passports:
        return ["## Scores", "", f"None yet; {code(f'regard evaluate {shlex.quote(str(run.path))}')} measures them."]
    try:
        best = model_hash(run.best)
    except (CheckpointError, OSError, ValueError):
        best = ""
    rows = []
    signatures: dict[str, str] = {}
    for name, facts in passports.items():
        values = {score["name"]: score["value"] for score in [*facts["scores"], *facts["paper_scores"]]}
        signatures |= {score["name"]: score["signature"] for score in [*facts["scores"], *facts["paper_scores"]]}
        model = "best" if facts["checkpoint"]["sha256"] == best else "an earlier checkpoint"
        figures = [f"{values[metric]:.2f}" if metric in values else "" for metric in _metric_names(passports)]
        loss = "-" if facts["loss"] is None else f"{facts['loss']:.3f}"
        rows.append([name, f"{facts['sentences']:,}", *figures, loss, decoding_words(facts["decode"]), model])
    names = _metric_names(passports)
    hashes = [
        (name, code(facts["test_set"]["sources"]), codes(facts["test_set"]["references"], " "))
        for name, facts in passports.items()
    ]
    return [
        "## Scores",
        "",
        *table(["set", "sentences", *names, "loss", "decoding", "checkpoint"], rows),
        "",
        *(f"- {in_markdown(metric)}: {code(signatures[metric])}" for metric in names),
        f"- checkpoint: SHA-256 `{best}`",
        "",
        'Figures that begin with "BLEU lowercased" are for comparison with papers that count so, and with nothing '
        "else. Each score has a passport in `scores/`, with its hypotheses.",
        "",
        *table(["set", "SHA-256 of the sources", "of the references"], hashes),
    ]


def _metric_names(passports: dict[str, dict[str, Any]]) -> list[str]:
    every = (score["name"] for facts in passports.values() for score in [*facts["scores"], *facts["paper_scores"]])
    return list(dict.fromkeys(every))


def _data(run: Run) -> list[str]:
    record = run.record
    facts = record["data"]
    places = record["settings"]["data"]
    rows = []
    for role in ("train", "valid"):
        counts = facts[role]
        dropped = ", ".join(f"{count:,} {reason}" for reason, count in counts["dropped"].items()) or "none"
        carved = f"{counts['carved']:,} for validation" if counts.get("carved") else ""
        place = _place(places[role]) if places.get(role) else "carved out of train"
        rows.append([role, place, f"{counts['read']:,}", f"{counts['kept']:,}", dropped, carved])
    rows += [[f"test {name}", _place(place), "", "", "never cleaned", ""] for name, place in places["test"].items()]
    files = facts.get("files", {})
    return [
        "## Data",
        "",
        *table(["set", "from", "pairs read", "kept", "dropped", "set apart"], rows),
        *(
            ["", *table(["file", "SHA-256"], [(code(name), code(known)) for name, known in files.items()])]
            if files
            else []
        ),
        *began(facts),
    ]


def _place(place: dict[str, Any]) -> Markdown:
    names = [place.get("path"), place.get("source"), place.get("target"), *place.get("references", [])]
    count = f" (at most {place['max_rows']:,})" if place.get("max_rows") else ""
    return Markdown(codes(name for name in names if name) + count)


def _settings(record: dict[str, Any]) -> list[str]:
    sources = record["sources"]
    given = [(name, value) for name, value in flatten(record["settings"]) if value not in (None, [], {})]
    rows = [(code(name), code(value), sources.get(name, "default")) for name, value in given]
    chosen = [row for row in rows if row[2] != "default"]
    header = ["setting", "value", "from"]
    defaults = table(header, [row for row in rows if row[2] == "default"])
    folded = ["<details><summary>Settings left at their defaults</summary>", "", *defaults, "", "</details>"]
    return ["## Settings", "", *table(header, chosen), "", *folded]


def _machine(record: dict[str, Any], metrics: Sequence[dict[str, float]]) -> list[str]:
    seconds = record.get("seconds", metrics[-1].get("seconds", 0) if metrics else 0)
    speeds = sorted(line["tokens_per_second"] for line in metrics if "tokens_per_second" in line)
    middle = [("target tokens per second", f"{speeds[len(speeds) // 2]:,.0f} (median)")] if speeds else []
    share = record["waited"] / max(seconds, 1e-9) if "waited" in record else None
    waiting = [] if share is None else [("of it waiting for data", f"{share:.2%}".replace("%", " %"))]
    rows = [("started", record["started"]), ("training", f"{seconds:,.1f} s"), *waiting, *middle]
    return ["## Time and hardware", "", *table(["what", "value"], [*rows, *record["machine"].items()])]


def _repeat(run: Run, record: dict[str, Any]) -> list[str]:
    again = str(run.path.with_name(run.path.name + "-again"))
    command = repeat_command(record)
    shell = [*fenced("sh", f"{command} --out {shlex.quote(again)}"), ""] if command else []
    settings = json.dumps(str(run.path / "run.json"), ensure_ascii=False)
    return [
        "## Repeat it",
        "",
        *shell,
        *(["Or with exactly the settings above, whatever became of the recipe since:", ""] if shell else []),
        *fenced(
            "python",
            "import json",
            "from pathlib import Path",
            "",
            "import regard",
            "",
            f'settings = json.loads(Path({settings}).read_text(encoding="utf-8"))["settings"]',
            f"regard.train(settings, out={json.dumps(again, ensure_ascii=False)})",
        ),
        "",
        _repeats(record) + f" Each checkpoint folder holds its own `{CONFIG}`.",
    ]


def _repeats(record: dict[str, Any]) -> str:
    if record["task"] == "vectors" and (record["machine"]["threads"] != 1 or record["machine"]["device"] != "cpu"):
        return (
            "Threads that change vectors without locks give others each time; `--threads 1` on a CPU repeats exactly."
        )
    return "On a CPU with the same data, version and number of threads the weights come out the same to the bit."


def repeat_command(record: dict[str, Any]) -> str | None:
    """Return the command that trains the same model again; None for a run that no recipe or task began."""
    sources = record["sources"]
    origin = next((source for source in sources.values() if source.startswith(("recipe ", "task "))), None)
    if origin is None:
        return None
    words = ["regard", "train", origin.partition(" ")[2]]
    for name, value in flatten(record["settings"]):
        source = sources.get(name)
        is_given = source == "the command line" or (origin.startswith("task ") and name.startswith("data."))
        if source and is_given and value is not None:
            words.append(_word(name, value))
    return shlex.join(words)


def _word(name: str, value: Any) -> str:
    """Return key=value such that reading it gives the value back; a text that looks like a number needs quotes."""
    if isinstance(value, str):
        plain = f"{name}={value}"
        if dict(flatten(parse_overrides([plain]))) == {name: value}:
            return plain
    return f"{name}={json.dumps(value, ensure_ascii=False)}"
