"""Races of translators: the measurements of each member, and the sections of the report."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib import resources
from typing import Any

import numpy as np

from regard.errors import RunError
from regard.escaping import in_html
from regard.runs.run import Run
from regard.runs.scores.passport import FOLDER, Passport, passports_of, read_passport
from regard.studies.race.charts import Chart, translation_plots
from regard.studies.race.disciplines import Discipline, Results, first_score, validation_curve
from regard.studies.race.elements import bullets, figure, reach_lines, sample_table, section
from regard.studies.race.figures.alignment import alignment, pick_sentence
from regard.studies.race.figures.bleu_by_length import bleu_by_length
from regard.studies.race.figures.gradient_reach import LONGEST, gradient_reach
from regard.studies.race.figures.timing import time_by_length
from regard.studies.race.records import MeasuredTranslator
from regard.tasks.data import EvalSet
from regard.tasks.evaluation import Values, decoding_words
from regard.tasks.load import load
from regard.tasks.record import RunRecord
from regard.tasks.translate.evaluate import encode_pairs

SAMPLES = 5
"""Sentences whose translations by every member are shown."""


class TranslationRace(Discipline):
    """The races of translators."""

    schema = MeasuredTranslator

    def measure(self, run: Run, held_out: EvalSet, device: str) -> dict[str, Any]:
        """Return the measurements on the best checkpoint of a run."""
        translator = load(run.best, device)
        encoded = encode_pairs(translator, held_out.rows)
        passport = _passport(run, held_out.name)
        lengths = (encoded.source.lengths - 1).tolist()  # EOS is no word
        bound = min(translator.bound or LONGEST, LONGEST)
        fits = np.flatnonzero((encoded.source.lengths <= bound) & (encoded.target.lengths <= bound))
        sentence = pick_sentence(held_out.rows, encoded)  # the same for every member, whatever its maximum length
        return {
            "lengths": [asdict(each) for each in bleu_by_length(lengths, passport.outputs, held_out.references)],
            "reach": gradient_reach(translator.model, encoded.select(fits), translator.device),
            "sentence": {"source": sentence.source, "target": sentence.target},
            "alignment": alignment(translator, sentence),
            "samples": [
                {"source": pair.source, "reference": pair.target, "output": output}
                for pair, output in list(zip(held_out.rows, passport.outputs, strict=True))[:SAMPLES]
            ],
            "step_times": time_by_length(translator.model, translator.bundle.vocabularies, translator.device),
        }

    def facts(self, record: RunRecord, measured: Values) -> dict[str, Any]:
        """Return the number of sentences scored, the BLEU signature, decoding settings and published results."""
        score = first_score(record)
        return {
            "sentences": score["sentences"],
            "signature": score["scores"][0]["signature"],
            "decode": record.settings.plain["decode"],
            "sentence": measured["sentence"],
            "published": ladder(),
        }

    def member(self, record: RunRecord, metrics: Sequence[Values], measured: Values) -> dict[str, Any]:
        """Return a member's metrics and measurements."""
        score = first_score(record)
        values = {each["name"]: each["value"] for each in score["scores"]}
        return {
            "decode": record.settings.plain["decode"],
            "bleu": values["BLEU"],
            "chrf": values["chrF"],
            "ter": values["TER"],
            "loss": score["loss"],
            "perplexity": score["perplexity"],
            "too_long": score["too_long"],
            "all_sets": {name: each["scores"][0]["value"] for name, each in record.scores.items()},
            "curve": validation_curve(metrics, "bleu", "loss"),
            "lengths": measured["lengths"],
            "reach": measured["reach"],
            "alignment": measured["alignment"],
            "samples": measured["samples"],
            "times": {
                "sentences_per_second": score["sentences_per_second"],
                "by_length": measured["step_times"],
            },
        }

    def plots(self, results: Results) -> list[Chart]:
        """Return the plots for which there are measurements, in the order of the report."""
        return translation_plots(results)

    def sections(self, results: Results, drawn: Mapping[str, Chart], captions: Mapping[str, str]) -> list[str]:
        """Return the sections below the table."""
        return [
            section("BLEU over training time", [figure(drawn.get("bleu-time"), captions["bleu-time"])]),
            section(
                "BLEU by source length",
                [figure(drawn.get("bleu-length"), captions["bleu-length"])],
                bullets(_length_lines(results["members"])),
            ),
            section(
                "Gradient norm by distance",
                [figure(drawn.get(name), captions[name]) for name in ("gradient-target", "gradient-source")],
                bullets(reach_lines(results["members"], "target")),
            ),
            section(
                "Time by length",
                [figure(drawn.get(name), captions[name]) for name in ("time-training", "time-decoding")],
                bullets(_time_lines(results["members"])),
            ),
            section("Sample translations", [sample_table(results["members"])]),
            section(
                "Cross-attention",
                [figure(drawn.get(f"alignment-{each['name']}"), _attention(each)) for each in results["members"]],
                _without_attention(results),
            ),
            section("Published results", [figure(drawn.get("ladder"), _ladder_caption(results))]),
        ]

    def subtitle(self, results: Results) -> tuple[str, str]:
        """Return the number of training pairs of all members, and of sentences they are scored on."""
        return f"{results['data']['train']['kept']:,} pairs", f"{results['sentences']:,} sentences"

    def note(self, results: Results) -> str:
        """Return the definition of the metrics in the table."""
        published = results["published"]
        ways = " or ".join(dict.fromkeys(decoding_words(each["decode"]) for each in results["members"]))
        return (
            f"BLEU {results['signature']}, {ways}; loss: mean negative log-likelihood per target token (nats); "
            f"tokens/s: training throughput in target tokens. The last column is “{published['title']}” "
            f"({published['about']}), independent of this race's data: only the order is comparable."
        )


def _passport(run: Run, name: str) -> Passport:
    """Return the passport of a run's final score on a set."""
    decode = run.record.settings.plain["decode"]
    for stem, passport in passports_of(run).items():
        if passport["set"] == name and passport["decode"] == decode:
            return read_passport(run.path / FOLDER / f"{stem}.json")
    raise RunError(
        f"{run.path}: the passport of its scores on {name} is missing; regard evaluate {run.path} writes it."
    )


def ladder() -> dict[str, Any]:
    """Return the published results of ladder.toml."""
    file = resources.files("regard.studies.race") / "ladder.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))


def _length_lines(members: Sequence[Values]) -> list[str]:
    """Return the BLEU of each member on the shortest and the longest sources."""
    lines = []
    for each in members:
        first, last = each["lengths"][0], each["lengths"][-1]
        if first != last:
            difference = last["bleu"] - first["bleu"]
            lines.append(
                f"{each['name']}: {first['bleu']:.1f} at {first['shortest']}–{first['longest']} tokens, "
                f"{last['bleu']:.1f} at {last['shortest']}–{last['longest']} ({difference:+.1f})."
            )
    return lines


def _time_lines(members: Sequence[Values]) -> list[str]:
    """Return the growth of each member's training step from the shortest to the longest sentences measured."""
    lines = []
    for each in members:
        times = each["times"]["by_length"]
        lengths, steps = times["lengths"], times["training_ms"]
        if len(steps) > 1 and steps[0] > 0:
            last = lengths[len(steps) - 1]
            lines.append(
                f"{each['name']}: a training step on {last} tokens takes {steps[-1] / steps[0]:.1f} times as long as "
                f"one on {lengths[0]}, which are {last / lengths[0]:.0f} times fewer."
            )
    return lines


def _attention(member: Values) -> str:
    probe = member["alignment"]["probe"] if member["alignment"] else ""
    return f"{member['name']}: each row is a target token of the reference translation ({probe}, mean of heads)."


def _without_attention(results: Results) -> str:
    without = [each["name"] for each in results["members"] if not each["alignment"]]
    sentence = results["sentence"]
    shown = f"“{sentence['source']}” → “{sentence['target']}”"
    none = f" Not shown: {', '.join(without)} (no attention, or the sentence is too long)." if without else ""
    return f"<p>{in_html(shown)}{in_html(none)}</p>"


def _ladder_caption(results: Results) -> str:
    published = results["published"]
    return (
        f"Top: this race on {results['set']}. Bottom: “{published['title']}” ({published['about']}), of models of "
        f"other sizes and, unless this race uses it, on another data set: compare the order, not the values."
    )
