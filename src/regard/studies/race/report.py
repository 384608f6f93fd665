"""A race as one page that needs nothing else, and its pictures as files."""

import tomllib
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

from regard.checkpoint.atomic import write_text
from regard.escaping import in_html
from regard.runs.scores.passport import decoding_words
from regard.studies.folder import REPORT
from regard.studies.race.charts import Picture, draw_pictures
from regard.studies.race.disciplines import ranked
from regard.studies.race.elements import bullets, duration, figure, section
from regard.studies.race.text_report import text_note, text_pictures, text_sections, text_subtitle

FOLDER = resources.files("regard.studies.race")


def write_report(results: dict[str, Any], folder: Path) -> Path:
    """Write report.html and the PNGs, and return the page."""
    pictures = (text_pictures if results["task"] == "language-model" else draw_pictures)(results)
    for picture in pictures:
        picture.png(folder)
    write_text(folder / REPORT, page(results, pictures))
    return folder / REPORT


def page(results: dict[str, Any], pictures: Sequence[Picture]) -> str:
    """Return the page: every picture and every style is in it."""
    template = (FOLDER / "page.html").read_text(encoding="utf-8")
    captions = tomllib.loads((FOLDER / "captions.toml").read_text(encoding="utf-8"))
    drawn = {picture.name: picture for picture in pictures}
    is_text = results["task"] == "language-model"
    sections = (text_sections if is_text else _translation_sections)(results, drawn, captions)
    sections.append(_conditions(results, captions["trial"]))
    return Template(template).substitute(
        title=in_html(f"Race {results['name']}"),
        subtitle=in_html(_subtitle(results)),
        notices=_notices(results),
        table=_table(results),
        sections="\n".join(each for each in sections if each),
    )


def _translation_sections(
    results: dict[str, Any], drawn: Mapping[str, Picture], captions: Mapping[str, str]
) -> list[str]:
    return [
        section("Who learns fastest", [figure(drawn.get("bleu-time"), captions["bleu-time"])]),
        section(
            "The bottleneck: BLEU by source length",
            [figure(drawn.get("bleu-length"), captions["bleu-length"])],
            bullets(_length_words(results["members"])),
        ),
        section(
            "Vanishing gradients: how far back a word is still felt",
            [figure(drawn.get(name), captions[name]) for name in ("gradient-target", "gradient-source")],
        ),
        section(
            "Word by word, or at once: time against length",
            [figure(drawn.get(name), captions[name]) for name in ("time-training", "time-decoding")],
        ),
        section(
            "What each model looks at",
            [figure(drawn.get(f"alignment-{each['name']}"), _looked(each)) for each in results["members"]],
            _without_attention(results),
        ),
        section("Beside the published ladder", [figure(drawn.get("ladder"), _ladder_caption(results))]),
    ]


def _subtitle(results: dict[str, Any]) -> str:
    if results["task"] == "language-model":
        learned, scored = text_subtitle(results)
    else:
        learned = f"{results['data']['train']['kept']:,} pairs"
        scored = f"{results['sentences']:,} sentences"
    is_seed_varied = (results["vary"] or "").partition("=")[0].strip() == "seed"
    common = " and tokenizer" if is_seed_varied else f", tokenizer and seed ({results['seed']})"
    return (
        f"{len(results['members'])} models, recipe {results['recipe']}, budget {results['budget']} each; the same "
        f"{learned}{common}; scored on {results['set']} ({scored})."
    )


def _notices(results: dict[str, Any]) -> str:
    said = [f"{name} failed: {reason}" for name, reason in results["failed"].items()]
    if results["waiting"]:
        said.append(f"Not finished: {', '.join(results['waiting'])}. The same command goes on with the race.")
    return bullets(said + _too_long_words(results))


def _too_long_words(results: dict[str, Any]) -> list[str]:
    """Say of which members some pairs of the set were more than they can read."""
    return [
        f"{each['name']}: {each['too_long']:,} of {results['sentences']:,} pairs are longer than it takes; their "
        f"translations count as empty, and they are not in the loss."
        for each in results["members"]
        if each.get("too_long")
    ]


def _table(results: dict[str, Any]) -> str:
    columns, rows = results["columns"], []
    best = {
        column["key"]: (max if column["best"] == "most" else min)(each[column["key"]] for each in results["members"])
        for column in columns
    }
    for each in ranked(results):
        cells = [
            (each["name"], False),
            *((format(each[c["key"]], c["form"]), each[c["key"]] == best[c["key"]]) for c in columns),
            (f"{each['parameters']:,}", False),
            (f"{each['steps']:,}", False),
            (f"{each['times']['tokens_per_second']:,.0f}", False),
            (duration(each["times"]["seconds"]), False),
        ]
        if "published" in results:
            # Where one setting is raced, a published figure would stand beside models that it is not of.
            rungs = [] if results["vary"] else results["published"]["rungs"]
            rung = next((r for r in rungs if each["preset"] in r["presets"]), None)
            cells.append((f"{rung['bleu']:.1f}" if rung else "–", False))
        rows.append("".join(f"<td{' class=best' if best else ''}>{in_html(text)}</td>" for text, best in cells))
    names = ["model", *(column["title"] for column in columns), "parameters", "steps", "tokens/s", "training"]
    names += ["published"] if "published" in results else []
    head = "".join(f"<th>{in_html(name)}</th>" for name in names)
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    note = text_note(results) if results["task"] == "language-model" else _translation_note(results)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="wide">{table}</div><small>{in_html(note)}</small>'


def _translation_note(results: dict[str, Any]) -> str:
    published = results["published"]
    ways = " or ".join(dict.fromkeys(decoding_words(each["decode"]) for each in results["members"]))
    return (
        f"BLEU {results['signature']}, {ways}; loss is the mean surprise of "
        f"a target token in nats; tokens/s are target tokens while training. The last column is "
        f"“{published['title']}” ({published['about']}), whatever this race is on: shown for the order of the rungs."
    )


def _length_words(members: Sequence[dict[str, Any]]) -> list[str]:
    """Say for each member what the longest sources cost it."""
    words = []
    for each in members:
        first, last = each["lengths"][0], each["lengths"][-1]
        if first != last:
            fall = last["bleu"] - first["bleu"]
            words.append(
                f"{each['name']}: {first['bleu']:.1f} at {first['shortest']}–{first['longest']} tokens, "
                f"{last['bleu']:.1f} at {last['shortest']}–{last['longest']} ({fall:+.1f})."
            )
    return words


def _looked(member: dict[str, Any]) -> str:
    probe = member["alignment"]["probe"] if member["alignment"] else ""
    return f"{member['name']}: each row is a target token, the given translation being read ({probe}, mean of heads)."


def _without_attention(results: dict[str, Any]) -> str:
    without = [each["name"] for each in results["members"] if not each["alignment"]]
    sentence = results["sentence"]
    said = f"“{sentence['source']}” → “{sentence['target']}”"
    none = (
        f" Nothing to show for {', '.join(without)}: no attention, or no room for this sentence." if without else ""
    )
    return f"<p>{in_html(said)}{in_html(none)}</p>"


def _ladder_caption(results: dict[str, Any]) -> str:
    published = results["published"]
    return (
        f"Above, this race on {results['set']}; below, figures marked “{published['title']}” ({published['about']}), "
        f"as they were published, of models of other sizes and, unless this race is on it, of another data set: "
        f"compare the order, not the heights."
    )


def _conditions(results: dict[str, Any], trial: str) -> str:
    trials = [
        f"{each['name']}: {1 / each['times']['planned_seconds_per_step']:.2f} steps a second in the trial, so "
        f"{each['steps']:,} steps; they took {duration(each['times']['seconds'])}."
        for each in results["members"]
        if each["times"]["planned_seconds_per_step"]
    ]
    how = f"<p>{in_html(trial)}</p>{bullets(trials)}" if trials else ""
    machine = results["machine"]
    unit = "tokens" if results["task"] == "language-model" else "target tokens"
    facts = [
        f"Machine: {machine['processor']}, {machine['device']}, {machine['threads']} threads, "
        f"{machine['precision']}, torch {machine['torch']}, regard {results['regard']}.",
        f"An update learns from about {results['tokens_per_update']:,} {unit}; the warm-up has the same share "
        f"of every member's steps as in the recipe.",
        "Every member is a run of its own, in the folder runs beside this page.",
    ]
    return f"<section><h2>Conditions</h2>{how}{bullets(facts)}</section>"
