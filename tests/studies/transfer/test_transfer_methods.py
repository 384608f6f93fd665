"""Methods, pretrained models, splits and the report of a transfer study."""

import json
import xml.etree.ElementTree as ElementTree
from collections import Counter

import pytest

from labeled import write_reviews
from regard.data.settings.examples import LabelSource
from regard.errors import ConfigError, DataError
from regard.progress import SILENT
from regard.studies.transfer.folder import TransferRun, claim_transfer
from regard.studies.transfer.methods import DEFAULT_METHODS, METHODS, check_methods, parse_sizes
from regard.studies.transfer.pretrained import needed_models
from regard.studies.transfer.report import accuracy_words, draw_plots, size_name, write_report
from regard.studies.transfer.results import collect
from regard.studies.transfer.split import TransferSplit

METRICS = {
    "accuracy": 0.5,
    "seconds": 2.0,
    "parameters": 30,
    "trainable_parameters": 20,
    "majority_baseline": 0.4,
    "machine": {"processor": "x", "device": "cpu", "threads": 1, "precision": "fp32", "torch": "2"},
}


@pytest.fixture
def split(tmp_path):
    write_reviews(tmp_path / "reviews.csv", 120)
    return TransferSplit(tmp_path / "data", LabelSource(path=str(tmp_path / "reviews.csv")), None, SILENT)


def test_a_method_names_its_pretrained_models():
    assert METHODS["scratch"].pretrained == [] and METHODS["elmo-vectors"].pretrained == ["elmo", "vectors"]
    assert check_methods(DEFAULT_METHODS) == list(DEFAULT_METHODS) and "elmo-vectors" not in DEFAULT_METHODS
    with pytest.raises(ConfigError, match="--methods: give at least one of scratch, vectors-frozen"):
        check_methods([])


def test_sizes_are_sorted_and_all_is_the_last():
    assert parse_sizes(["all", "100", "20"]) == [20, 100, None] and parse_sizes(["5"]) == [5]
    for words, sentence in ((["1"], "of at least 2"), (["5", "5"], "named twice"), ([], "give at least one number")):
        with pytest.raises(ConfigError, match=sentence):
            parse_sizes(words)


def test_models_that_are_not_given_are_pretrained_on_the_miniature_world_alone():
    given = {"vectors": "glove.txt"}
    assert needed_models(["scratch", "vectors-frozen", "elmo"], given, True) == {"vectors": "glove.txt", "elmo": None}
    with pytest.raises(ConfigError) as error:
        needed_models(["elmo"], given, False)
    assert str(error.value) == (
        "--methods elmo: it starts from a pretrained model; give --elmo RUN, or leave the method out."
    )


def test_sampled_training_sets_are_nested_and_stratified(split):
    read = lambda path: [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    few, more, all_rows = (read(split.training_set(size, 1)) for size in (10, 30, None))
    assert more[:10] == few and len(more) == 30 and len(all_rows) == len(split.train)
    whole = Counter(row["label"] for row in all_rows)
    for rows in (few, more):
        counts = Counter(row["label"] for row in rows)
        assert all(abs(counts[label] / len(rows) - count / len(all_rows)) < 0.1 for label, count in whole.items())
    assert read(split.training_set(10, 2)) != few and read(split.path("valid")) == read(split.path("valid"))
    split.check([10, None])
    with pytest.raises(ConfigError, match="--sizes: 999 examples are more than the .* held out for testing"):
        split.check([999])


def test_test_examples_are_removed_from_the_training_set(tmp_path):
    for name, count in (("a", 120), ("b", 40)):
        write_reviews(tmp_path / f"{name}.csv", count)
    sources = [LabelSource(path=str(tmp_path / f"{name}.csv")) for name in ("a", "b")]
    split = TransferSplit(tmp_path / "data", *sources, SILENT)
    texts = [{row.texts for row in rows} for rows in (split.train, split.valid, split.test)]
    assert texts[2] and not texts[0] & texts[2] and not texts[1] & texts[2] and not texts[0] & texts[1]
    write_reviews(tmp_path / "few.csv", 5)
    with pytest.raises(DataError, match="examples are too few to compare; give 20 or more"):
        TransferSplit(tmp_path / "other", LabelSource(path=str(tmp_path / "few.csv")), None, SILENT)


@pytest.fixture
def results(tmp_path, split):
    asked = {
        "data": {"path": "reviews.csv"},
        "methods": ["scratch", "elmo"],
        "sizes": [10, None],
        "seeds": 2,
        "pretrained": {"elmo": "runs/elmo"},
    }
    study = claim_transfer(tmp_path / "study", asked, overwrite=False)
    for seed, accuracy in ((1, 0.5), (2, 0.7)):
        study.store(TransferRun("scratch", 10, seed), METRICS | {"accuracy": accuracy})
    study.store(TransferRun("elmo", 10, 1), METRICS | {"mix": {"lstm 1": 0.25}})
    return collect(study, asked, study.cells(asked), split, {}, {"elmo": "It failed."})


def test_results_are_means_over_seeds(results):
    assert (results["done"], results["of"], results["is_finished"]) == (3, 8, False)
    scratch, elmo = results["table"]
    few, everything = scratch["by_size"]
    assert few["accuracy"] == pytest.approx(0.6) and few["spread"] == pytest.approx(0.02**0.5) and few["seeds"] == 2
    assert everything == {"seeds": 0, "accuracy": None, "spread": None, "seconds": None, "mix": None}
    assert elmo["by_size"][0]["spread"] is None and elmo["trainable_parameters"] == 20
    assert accuracy_words(few) == "60.0 ± 14.1" and accuracy_words(everything) == "–"
    assert size_name(None, results).startswith("all ") and size_name(1000, results) == "1,000"


def test_the_report_names_axes_cost_and_conditions(results, tmp_path):
    plots = draw_plots(results)
    assert [plot.title for plot in plots] == ["Accuracy by number of training examples", "Accuracy by training time"]
    labels = [
        "".join(element.itertext())
        for plot in plots
        for element in ElementTree.fromstring(plot.svg().replace("xlink:", "")).iter()
    ]
    assert {"training examples", "training time (s)", "accuracy (%)"} <= {label.strip() for label in labels}
    text = write_report(results, tmp_path).read_text(encoding="utf-8")
    assert "<td class=best>60.0 ± 14.1</td>" in text and "<td>given: runs/elmo</td>" in text
    assert "elmo, 10 examples: lstm 1 0.250" in text and "elmo failed: It failed." in text
    assert "3 of 8 runs are finished; the same command resumes the study." in text
