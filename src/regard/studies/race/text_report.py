"""Races of language models: the loss by position and the reach of the gradient, beside the metrics."""

from collections.abc import Mapping, Sequence
from typing import Any

from regard.runs.run import Run
from regard.studies.race.charts import Chart, by_bucket, reach_chart
from regard.studies.race.disciplines import Discipline, Results, first_score, validation_curve
from regard.studies.race.elements import bullets, figure, reach_lines, section
from regard.studies.race.figures.loss_by_position import measure_text
from regard.studies.race.records import MeasuredText
from regard.tasks.data import EvalSet
from regard.tasks.evaluation import Values
from regard.tasks.record import RunRecord
from regard.tasks.text.corpora import text_report

METRICS = ("loss", "perplexity", "bits_per_byte", "word_perplexity")


class TextRace(Discipline):
    """The races of language models."""

    schema = MeasuredText

    def measure(self, run: Run, held_out: EvalSet, device: str) -> dict[str, Any]:
        """Return the loss by position, and the reach of the gradient."""
        return measure_text(run, held_out, device)

    def facts(self, record: RunRecord, measured: Values) -> dict[str, Any]:
        """Return the number of tokens scored and the context window."""
        return {"tokens": first_score(record)["tokens"], "window": text_report(record).window}

    def member(self, record: RunRecord, metrics: Sequence[Values], measured: Values) -> dict[str, Any]:
        """Return a member's metrics and measurements."""
        sets = {name: {key: each[key] for key in METRICS} for name, each in record.scores.items()}
        return next(iter(sets.values())) | {
            "all_sets": sets,
            "curve": validation_curve(metrics, "loss"),
            "positions": measured["positions"],
            "reach": measured["reach"],
        }

    def plots(self, results: Results) -> list[Chart]:
        """Return the plots of losses, and of the gradient where it was measured."""
        members = results["members"]
        labels = {"xlabel": "context length (tokens)", "ylabel": "loss per token (nats)"}
        by_position = by_bucket(members, "positions", "loss", **labels)
        plots = [*super().plots(results), Chart("loss-position", "Loss by context length", by_position)]
        has_reach = any(each["reach"]["text"] for each in members)
        return [*plots, reach_chart(members, "text", "window")] if has_reach else plots

    def sections(self, results: Results, drawn: Mapping[str, Chart], captions: Mapping[str, str]) -> list[str]:
        """Return the sections below the table."""
        return [
            *super().sections(results, drawn, captions),
            section(
                "Loss by position in the window",
                [figure(drawn.get("loss-position"), captions["loss-position"])],
                bullets(_position_lines(results["members"])),
            ),
            section(
                "Gradient norm by distance",
                [figure(drawn.get("gradient-text"), captions["gradient-text"])],
                bullets(reach_lines(results["members"], "text")) if "gradient-text" in drawn else "",
            ),
        ]

    def subtitle(self, results: Results) -> tuple[str, str]:
        """Return the training text of all members, and the number of tokens they are scored on."""
        train = results["data"]["train"]
        return (
            f"{train['documents']:,} documents of {train['tokens']:,} tokens in windows of {results['window']:,}",
            f"{results['tokens']:,} tokens",
        )

    def note(self, results: Results) -> str:
        """Return the definition of the metrics in the table."""
        return (
            "Word perplexity and bits per byte do not depend on the tokenizer; perplexity and loss (nats) are per "
            f"token. The text is evaluated in windows of {results['window']:,} tokens; every token counts once, with "
            "at least half a window of context. Tokens/s: training throughput."
        )


def _position_lines(members: Sequence[Values]) -> list[str]:
    """Return the loss of each member with the shortest and the longest context."""
    lines = []
    for each in members:
        first, last = each["positions"][0], each["positions"][-1]
        if first != last:
            lines.append(
                f"{each['name']}: {first['loss']:.2f} with one token of context, {last['loss']:.2f} with "
                f"{last['shortest']}–{last['longest']} ({last['loss'] - first['loss']:+.2f})."
            )
    return lines
