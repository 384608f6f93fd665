"""Races of translators: what is measured on each member, and what the report shows."""

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
from regard.studies.race.charts import Picture, draw_pictures
from regard.studies.race.disciplines import Discipline, Results
from regard.studies.race.elements import bullets, figure, section
from regard.studies.race.figures.alignment import alignment, pick_sentence
from regard.studies.race.figures.bleu_by_length import bleu_by_length
from regard.studies.race.figures.gradient_reach import LONGEST, gradient_reach
from regard.studies.race.figures.timing import time_by_length
from regard.studies.race.records import MeasuredTranslator
from regard.tasks.data import EvalSet
from regard.tasks.evaluation import decoding_words
from regard.tasks.load import load
from regard.tasks.record import RunRecord
from regard.tasks.translate.evaluate import encode_pairs


def measure_translator(run: Run, held_out: EvalSet, device: str) -> dict[str, Any]:
    """Return what is measured on the model itself, beside the scores of its run."""
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
        "step_times": time_by_length(translator.model, translator.bundle.vocabularies, translator.device),
    }


def _passport(run: Run, name: str) -> Passport:
    """Return the passport that the end of a run left for a set."""
    decode = run.record.settings.plain["decode"]
    for stem, record in passports_of(run).items():
        if record.set == name and record.decode == decode:
            return read_passport(run.path / FOLDER / f"{stem}.json")
    raise RunError(f"{run.path}: its scores on {name} are gone; regard evaluate {run.path} writes them anew.")


def facts(record: RunRecord, measured: dict[str, Any]) -> dict[str, Any]:
    """Return what the report tells of the sentences of a race."""
    score: Any = next(iter(record.scores.values()))
    return {
        "sentences": score["sentences"],
        "signature": score["scores"][0]["signature"],
        "decode": record.settings.plain["decode"],
        "sentence": measured["sentence"],
        "published": ladder(),
    }


def member(record: RunRecord, metrics: Sequence[dict[str, Any]], measured: dict[str, Any]) -> dict[str, Any]:
    """Return a member's own values."""
    scores: dict[str, Any] = dict(record.scores)
    score = next(iter(scores.values()))
    values = {each["name"]: each["value"] for each in score["scores"]}
    return {
        "decode": record.settings.plain["decode"],
        "bleu": values["BLEU"],
        "chrf": values["chrF"],
        "ter": values["TER"],
        "loss": score["loss"],
        "perplexity": score["perplexity"],
        "too_long": score["too_long"],
        "all_sets": {name: each["scores"][0]["value"] for name, each in scores.items()},
        "curve": [
            {
                "step": line["step"],
                "seconds": line["seconds"],
                "bleu": line.get("valid_bleu"),
                "loss": line["valid_loss"],
            }
            for line in metrics
            if {"valid_loss", "seconds"} <= line.keys()
        ],
        "lengths": measured["lengths"],
        "reach": measured["reach"],
        "alignment": measured["alignment"],
        "times": {
            "sentences_per_second": score["sentences_per_second"],
            "by_length": measured["step_times"],
        },
    }


def ladder() -> dict[str, Any]:
    """Return the published ladder as its file has it."""
    file = resources.files("regard.studies.race") / "ladder.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))


def sections(results: Results, plots: Mapping[str, Picture], captions: Mapping[str, str]) -> list[str]:
    """Return the sections under the table."""
    return [
        section("BLEU over training time", [figure(plots.get("bleu-time"), captions["bleu-time"])]),
        section(
            "The bottleneck: BLEU by source length",
            [figure(plots.get("bleu-length"), captions["bleu-length"])],
            bullets(_length_lines(results["members"])),
        ),
        section(
            "Vanishing gradients: gradient norm by distance",
            [figure(plots.get(name), captions[name]) for name in ("gradient-target", "gradient-source")],
        ),
        section(
            "Sequential or parallel: step time by length",
            [figure(plots.get(name), captions[name]) for name in ("time-training", "time-decoding")],
        ),
        section(
            "Cross-attention",
            [figure(plots.get(f"alignment-{each['name']}"), _attention(each)) for each in results["members"]],
            _without_attention(results),
        ),
        section("Published results", [figure(plots.get("ladder"), _ladder_caption(results))]),
    ]


def subtitle(results: Results) -> tuple[str, str]:
    """Return how many pairs all members were trained on, and how many sentences they are scored on."""
    return f"{results['data']['train']['kept']:,} pairs", f"{results['sentences']:,} sentences"


def note(results: Results) -> str:
    """Return how the metrics in the table were computed."""
    published = results["published"]
    ways = " or ".join(dict.fromkeys(decoding_words(each["decode"]) for each in results["members"]))
    return (
        f"BLEU {results['signature']}, {ways}; the loss is the mean negative log-likelihood of a target token in nats; "
        f"tokens/s are target tokens in training. The last column is “{published['title']}” ({published['about']}), "
        f"whatever this race is on: shown for the order of the rungs."
    )


def _length_lines(members: Sequence[dict[str, Any]]) -> list[str]:
    """Return for each member what the longest sources cost it."""
    lines = []
    for each in members:
        first, last = each["lengths"][0], each["lengths"][-1]
        if first != last:
            fall = last["bleu"] - first["bleu"]
            lines.append(
                f"{each['name']}: {first['bleu']:.1f} at {first['shortest']}–{first['longest']} tokens, "
                f"{last['bleu']:.1f} at {last['shortest']}–{last['longest']} ({fall:+.1f})."
            )
    return lines


def _attention(member: Mapping[str, Any]) -> str:
    probe = member["alignment"]["probe"] if member["alignment"] else ""
    return f"{member['name']}: each row is a target token of the reference translation ({probe}, mean of heads)."


def _without_attention(results: Results) -> str:
    without = [each["name"] for each in results["members"] if not each["alignment"]]
    sentence = results["sentence"]
    shown = f"“{sentence['source']}” → “{sentence['target']}”"
    none = f" Nothing to show for {', '.join(without)}: no attention, or the sentence is too long." if without else ""
    return f"<p>{in_html(shown)}{in_html(none)}</p>"


def _ladder_caption(results: Results) -> str:
    published = results["published"]
    return (
        f"Above, this race on {results['set']}; below, results marked “{published['title']}” ({published['about']}), "
        f"as they were published, of models of other sizes and, unless this race is on it, of another data set: "
        f"compare the order, not the heights."
    )


TRANSLATION = Discipline(
    MeasuredTranslator, measure_translator, facts, member, draw_pictures, sections, subtitle, note
)
