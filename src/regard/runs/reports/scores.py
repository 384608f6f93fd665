"""The section of a card on scores: every evaluation of the run, on its own test sets and on other data."""

import shlex

from regard.checkpoint.identity import model_hash
from regard.errors import CheckpointError, DataError
from regard.escaping import in_markdown
from regard.reporting.markdown import Markdown, code, codes, table
from regard.runs.scores.passport import passports_of
from regard.runs.store.folder import RunFolder
from regard.tasks.card import CardInput
from regard.tasks.contract import AnyTask
from regard.tasks.evaluation import Values, decoding_words, score_table
from regard.tasks.record import check_scores


def scores_section(run: RunFolder, task: AnyTask, card: CardInput) -> list[str]:
    """Return the metrics of every passport with intervals and signatures, and the details of each set."""
    sets = evaluations_of(run, task, card.record.scores)
    if not sets:
        command = f"regard evaluate {shlex.quote(str(run.path))}"
        command += f" {task.eval_flags}" if task.evaluated_on else ""
        return ["## Scores", "", f"None yet; {code(command)} computes them."]
    best = _best_hash(run)
    scores = score_table(task.counted, task.metrics, sets)
    further = [_context(values, best) for values in sets.values()]
    shown = [number for number in range(3) if any(row[number] for row in further)]
    header = [*scores.header, *(("decoding", "checkpoint", "set (SHA-256)")[number] for number in shown)]
    rows = [[*row, *(more[number] for number in shown)] for row, more in zip(scores.rows, further, strict=True)]
    signatures = {score["name"]: score["signature"] for values in sets.values() for score in values["scores"]}
    signatures |= {
        each["name"]: each["signature"] for values in sets.values() for each in values.get("paper_scores", ())
    }
    papers = [
        f"- {in_markdown(name)}, {in_markdown(each['name'])}: {each['value']:.2f} (for comparison with papers that "
        f"compute it so, and with nothing else)"
        for name, values in sets.items()
        for each in values.get("paper_scores", ())
    ]
    note = " ".join(filter(None, (task.score_note, "Each evaluation has a passport in `scores/`, with all outputs.")))
    lines = [
        "## Scores",
        "",
        *table(header, rows),
        "",
        *(f"- {in_markdown(name)}: {code(signature)}" for name, signature in signatures.items()),
        *papers,
        *([f"- best checkpoint: SHA-256 {code(best)}"] if best else []),
        "",
        f"In brackets: 95 % intervals by bootstrap. {note}",
    ]
    for name, values in sets.items():
        lines += task.score_details(card, name, values)
    return lines


def evaluations_of(run: RunFolder, task: AnyTask, scores: Values) -> dict[str, Values]:
    """Return every evaluation of a run by the name of its passport; those of run.json where there is no passport."""
    sets: dict[str, Values] = {}
    for name, facts in passports_of(run).items():
        try:
            check_scores(task, facts, name, DataError, "a score passport")
        except DataError:
            continue
        sets[name] = facts
    known = {values.get("set") for values in sets.values()}
    own = {name: values for name, values in scores.items() if name not in known}
    return own | sets


def _context(values: Values, best: str) -> tuple[Markdown | str, str, Markdown | str]:
    """Return decoding settings, checkpoint, and the hashes of the set of an evaluation."""
    checkpoint = values.get("checkpoint")
    which = "" if not checkpoint else "best" if checkpoint["sha256"] == best else "an earlier checkpoint"
    hashes = values["test_set"]
    return (
        decoding_words(values["decode"]),
        which,
        codes(each[:12] for each in (hashes["sources"], *hashes["references"])),
    )


def _best_hash(run: RunFolder) -> str:
    try:
        return model_hash(run.best)
    except (CheckpointError, OSError, ValueError):
        return ""
