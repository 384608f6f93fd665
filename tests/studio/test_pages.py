"""All views in a real browser, over runs that are trained here; every number is compared with what made it."""

import json
import re

import numpy as np
import pytest
from browsing import CHROMIUM, copy_runs, scripted, skip_without_browser, studio

from commands import corpus
from racing import SETTINGS
from regard.inspection.interventions import Edit, edited
from regard.studies.race.entrants import Lineup
from regard.studies.race.race import race
from regard.studio.views.ranking import RankingRequest, rank_heads
from regard.tasks.load import load

SENTENCE = "Der kleine Hund schläft im Garten."
VIEWS = [
    "runs",
    "attention",
    "gates",
    "tree",
    "steps",
    "intervene",
    "edited classifier",
    "generate",
    "words",
    "heads",
    "map",
    "reports",
    *(f"concepts: {each}" for each in ("positions", "rates", "smoothing", "merges", "bleu", "masks", "cell")),
]


@pytest.fixture(scope="module")
def browsed(made_once, tiny_runs, quick_run):
    """The runs with a race among them, and what the browser has seen of them: once for all processes."""
    skip_without_browser()

    def make(folder):
        runs = copy_runs(tiny_runs, quick_run.path, folder / "runs")
        data = corpus(folder, 120)
        sources = {"data.train.source": str(data[1]), "data.train.target": str(data[3])}
        lineup = Lineup("translate", ["transformer-tiny", "gru-attention"], None, SETTINGS | sources)
        race(lineup, "6 steps", out=runs / "race")
        with studio(runs) as address:
            (folder / "report.json").write_text(scripted("pages.mjs", address, CHROMIUM), encoding="utf-8")

    return made_once("studio-browsed", make)


@pytest.fixture(scope="module")
def folder(browsed):
    """The folder of runs."""
    return browsed / "runs"


@pytest.fixture(scope="module")
def report(browsed):
    """What the browser has seen."""
    return json.loads((browsed / "report.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def seen(report):
    return report["seen"]


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_works_for_everybody(seen, name):
    view = seen[name]
    assert "failure" not in view, view["failure"]
    assert view["axe"] == [] and view["dark"] == [], "axe finds something serious"
    assert view["overflow"] <= 0, "wider than a phone"
    assert len(view["sentence"]) > 30 and "#/" in view["link"]


def test_nothing_is_asked_of_another_host_and_nothing_fails(report):
    (host,) = report["hosts"]
    assert host.startswith("127.0.0.1:")
    assert report["errors"] == []


def test_runs_are_listed_with_their_curves_and_a_broken_one_as_broken(seen, folder):
    view = seen["runs"]
    assert "run.json" in view["broken"]
    lines = [json.loads(line) for line in (folder / "translator" / "metrics.jsonl").read_text().splitlines()]
    loss = next(each for each in view["curves"]["translator"] if each["title"].startswith("loss"))
    valid = next(each for each in loss["lines"] if each["name"] == "valid")
    assert valid["values"] == [line["valid_loss"] for line in lines if "valid_loss" in line]
    source, _, output = view["sample"]
    assert output == load(folder / "translator")(source).text
    assert view["command"].startswith("regard train translate-miniature train.steps=12")
    assert view["why"] == "the command line"


def test_attention_on_the_screen_is_that_of_the_probes(seen, translator):
    view, trace = seen["attention"], translator.inspect(SENTENCE)
    shown = np.array(view["data"]["weights"]).reshape(trace.attention("cross", 0)[2].shape)
    assert np.allclose(shown, trace.attention("cross", 0)[2], atol=1e-6)
    expected = np.stack([trace.attention("cross", layer) for layer in range(trace.layers("cross"))])
    assert np.allclose(np.array(view["all"]["weights"]).reshape(expected.shape), expected, atol=1e-6)
    value = float(re.search(r": ([-\d.e]+)$", view["cell"])[1])
    assert value == pytest.approx(float(trace.attention("cross", 0)[2][1, 1]), rel=1e-3)
    assert all(view["svg"]) and view["png"] == "PNG"
    assert "head=1" in view["link"]


def test_gates_of_a_recurrent_model_are_shown_over_time(seen):
    layers = seen["gates"]["data"]["layers"]
    assert {each["cell"] for each in layers} == {"gru"} and any(each["is_backward"] for each in layers)
    for layer in layers:
        for gate in layer["gates"]:
            assert len(gate["values"]) == np.prod(gate["shape"]) and gate["shape"][0] == len(layer["tokens"])


def test_the_tree_ends_in_the_outputs_of_the_search(seen, translator):
    view = seen["tree"]
    expected = translator(SENTENCE, beam_size=3).candidates
    assert view["outputs"] == [each.text for each in expected]
    finished = [each["score"] for each in view["data"]["nodes"] if each["fate"] == "finished"]
    assert max(finished) == pytest.approx(expected[0].score, abs=1e-5)
    assert view["chosen"][0] == view["chosen"][1] != "", "a link restores the chosen token"
    token = view["taken"]
    assert all(each.startswith(token) for each in view["forced"]) and view["forced"] != view["outputs"]


def test_steps_on_the_screen_are_those_of_the_probes(seen, translator):
    view = seen["steps"]
    assert view["example"].startswith("112, 96") and "14, 12" in view["example"] and "0.88, 0.12" in view["example"]
    expected = translator.inspect(SENTENCE).attention("decoder", 0)[1, 1]
    assert np.allclose(view["values"], expected, atol=1e-5)
    assert "regard/nn/attention/attention.py, line" in view["source"] and "softmax" in view["source"]


def test_edits_change_the_output_and_can_be_undone(seen, translator):
    view = seen["intervene"]
    greedy = translator(SENTENCE, beam_size=1).text
    assert view["before"] == [greedy, greedy] and view["after"][0] == greedy
    assert view["weight"] == pytest.approx(0.6, abs=1e-6) and len(view["edits"]) == 2
    assert "Edit(kind='cross', layer=0)" in view["code"] and "weight=0.6" in view["code"]
    expected = rank_heads(translator, RankingRequest(model="translator", examples=4))
    shown = {(each["kind"], each["layer"], each["head"]): each["effect"] for each in view["ranking"]["heads"]}
    assert shown == pytest.approx(
        {(each.kind, each.layer, each.head): each.effect for each in expected.heads}, abs=1e-5
    )
    assert view["ranking"]["loss"] == pytest.approx(expected.loss, abs=1e-5)
    assert view["restored"] == view["ranking"], "a link restores a ranking"


def test_edits_of_a_classifier_change_its_label(seen, folder):
    model, view = load(folder / "classify"), seen["edited classifier"]["data"]["view"]
    with edited(model.model.body, [Edit("self", 0, head=1)]):
        (after,) = model(["a good long book"])
    assert view["after"]["text"] == after.label
    assert view["after"]["probabilities"][0] == pytest.approx(after.probability, abs=1e-6)


def test_generated_text_is_that_of_a_call(seen, folder):
    view, generator = seen["generate"], load(folder / "language-model")
    expected = generator("Anna", method="sample", temperature=1, max_new_tokens=6, top_k=5, seed=3)
    events = view["data"]["events"]
    assert [each["id"] for each in events] == list(expected.ids)
    assert [each["probability"] for each in events] == pytest.approx(np.exp(expected.log_probabilities), abs=1e-5)
    assert view["lens"]["layers"] and view["restored"] == view["lens"], "a link restores the lens"


def test_masks_heads_and_words_show_what_the_pipelines_give(seen, folder):
    encoder = load(folder / "masked-language-model")
    (mask,) = encoder.fill("Anna sees the [MASK].", top=8).masks
    shown = seen["words"]["data"]["masks"][0]
    assert [each["probability"] for each in shown] == pytest.approx([each.probability for each in mask], abs=1e-6)
    assert seen["words"]["pair"].startswith("Next-sentence probability:")
    assert seen["heads"]["chips"] == ["a", "good", "long", "book"]
    vectors, view = load(folder / "vectors"), seen["map"]
    near = vectors.neighbors(view["word"], 12)
    assert [each["word"] for each in view["near"]["nearest"]] == [each.word for each in near]
    assert view["points"] == 2 * view["words"] == 2 * len(vectors)


def test_a_race_shows_its_members(seen, folder):
    results = json.loads((folder / "race" / "results.json").read_text())
    assert seen["reports"]["members"] == [each["name"] for each in results["members"]]
    shown = seen["reports"]["data"]["members"][0]["values"][0]
    assert shown == results["members"][0][results["columns"][0]["key"]]
    reach = next(each for each in seen["reports"]["measured"] if each["title"] == "gradient reach in the target")
    assert reach["lines"][0]["values"] == results["members"][0]["reach"]["target"]["gradient"]
