"""The verbs on files, checkpoints, tokenizers and settings: what they print, and what they refuse."""

import gzip
import json
from pathlib import Path
from types import SimpleNamespace

import pytest
import typer

from commands import bad, good
from regard.cli.tools import bleu, config, data, export, lists, runs, tokenizer
from regard.errors import ConfigError, DataError
from regard.models.presets import presets as all_presets
from regard.registry import TASKS
from regard.runs.planning.recipes import REQUIRED, shipped
from regard.runs.verify import Verification


def printed(capsys) -> str:
    return capsys.readouterr().out


def test_every_shipped_recipe_and_preset_is_listed_once(capsys):
    lists.recipes(json=True)
    assert [row["name"] for row in json.loads(printed(capsys))] == list(shipped())
    lists.presets(vocabulary=1000, json=True)
    assert [row["preset"] for row in json.loads(printed(capsys))] == list(all_presets())


def test_a_task_without_data_shows_a_placeholder_and_one_with_data_its_path(capsys):
    for settings, value in (([], REQUIRED), (["data.train.path=a.tsv"], "a.tsv")):
        config.show("translate", settings, json=True)
        assert json.loads(printed(capsys))["data.train.path"]["value"] == value
    config.show("language-model", [], json=True)
    assert json.loads(printed(capsys))["data.train.paths"]["value"] == [REQUIRED]


def test_a_set_is_printed_in_its_format_and_as_json_lines(capsys):
    data.miniature(count=3, split="test", set="reviews")
    header, *rows = printed(capsys).splitlines()
    assert "text" in header.split(",") and len(rows) == 3
    data.miniature(count=3, split="test", set="reviews", json=True)
    lines = [json.loads(line) for line in printed(capsys).splitlines()]
    assert len(lines) == 3 and all(line["label"] in ("positive", "negative") for line in lines)


def test_tokens_of_a_text_have_ids_and_offsets_that_lie_in_it(tmp_path, capsys):
    (tmp_path / "a.txt").write_text("ein Hund, eine Hündin\n" * 5)
    tokenizer.train([tmp_path / "a.txt"], size=60, out=tmp_path / "t.json", quiet=True, json=True)
    report = json.loads(printed(capsys))
    assert report["unknown"] == 0 and report["size"] <= 60 and report["tokens_per_word"] >= 1
    tokenizer.show(tmp_path / "t.json", "eine Hündin", json=True)
    shown = json.loads(printed(capsys))
    assert "".join("eine Hündin"[start:end] for start, end in shown["offsets"]).replace(" ", "") == "eineHündin"


def test_bleu_of_several_references_takes_the_best_match(tmp_path, capsys):
    for name, text in (("h", "a b c d e"), ("r1", "x y"), ("r2", "a b c d e")):
        (tmp_path / name).write_text(f"{text}\n")
    bleu.bleu([str(tmp_path / name) for name in ("h", "r1", "r2")], json=True)
    assert json.loads(printed(capsys))["bleu_4"] == pytest.approx(1)
    bleu.bleu(["A b", "a B"], inline=True, lowercase=True)
    assert printed(capsys).splitlines()[1].startswith("BLEU-1 1.000  BLEU-2 1.000")
    with pytest.raises(DataError, match="has 1 lines but"):
        (tmp_path / "r1").write_text("x\ny\n")
        bleu.bleu([str(tmp_path / "h"), str(tmp_path / "r1")])


@pytest.mark.parametrize(("device", "difference", "code"), [("cpu", 0.0, 0), ("cpu", 1e-9, 1), ("cuda", 1e-9, 0)])
def test_a_difference_on_a_cpu_is_exit_code_1(device, difference, code, monkeypatch, capsys):
    result = Verification(4, 2, difference, 0.0, 0.0, device)
    monkeypatch.setattr("regard.runs.verify.verify_resume", lambda *_: result)
    flags = {"recipe": "translate-miniature", "quiet": True}
    if code:
        with pytest.raises(typer.Exit) as stop:
            runs.verify_resume(**flags)
        assert stop.value.exit_code == code
    else:
        runs.verify_resume(**flags)
    verdict = "bit-identical" if difference == 0 else "not bit-identical"
    assert printed(capsys).endswith(f"4 steps, interrupted after 2, on {device}: {verdict}.\n")


def test_an_average_names_its_checkpoints_and_a_command_to_use_it(monkeypatch, capsys):
    given = []
    result = SimpleNamespace(path=Path("r/averaged"), checkpoints=(Path("r/2"), Path("r/1")))
    monkeypatch.setattr("regard.runs.average.average", lambda *args: given.append(args) or result)
    monkeypatch.setattr("regard.runs.scores.model.read_task", lambda path: "translate")
    runs.average(["r"], count=2, of="best")
    assert given == [(["r"], None, 2, "best")]
    assert printed(capsys).splitlines() == [
        "r/averaged: the mean of 2 checkpoints (2, 1).",
        "Use it: regard translate r/averaged TEXT",
    ]


def test_a_card_and_its_curves_are_named(monkeypatch, capsys):
    monkeypatch.setattr("regard.runs.run.Run.card", lambda self: self.path / "README.md")
    runs.card(Path("r"))
    assert printed(capsys) == "written: r/README.md, r/curves.png\n"


def test_an_unknown_format_is_refused_before_a_model_is_read():
    with pytest.raises(ConfigError, match='^to: "onnx" is not one of hf, checkpoint.'):
        export.export("missing", Path("x"), to="onnx")
    formats = "hf, checkpoint, word2vec, word2vec-binary, glove"
    with pytest.raises(ConfigError, match=f'--to: "onnx" is not one of {formats}.'):
        export.convert("missing", to="onnx")


@pytest.mark.parametrize(("run", "folder"), [("runs/a", "runs/a-hf"), ("runs/a/", "runs/a-hf")])
def test_a_run_is_converted_next_to_itself(run, folder, monkeypatch):
    given = []
    written = SimpleNamespace(to_dict=dict, summary="")
    monkeypatch.setattr("regard.runs.export.convert.write_export", lambda *args: given.append(args) or written)
    export.convert(run)
    export.convert(run, out=Path("b"))
    assert [args[1] for args in given] == [Path(folder), Path("b")]


def test_word_vectors_are_written_with_the_suffix_of_their_format(tmp_path, capsys):
    path = tmp_path / "v.txt"
    path.write_text("the 3 4\nof 5 6\n")
    export.convert(str(path), to="word2vec", quiet=True)
    out = tmp_path / "v.txt.txt"
    assert printed(capsys) == f"{out}: 2 words, 2 dimensions, format word2vec.\n"
    assert out.read_text() == "2 2\nthe 3 4\nof 5 6\n"
    with pytest.raises(DataError, match="the file exists; name another with --out."):
        export.convert(str(path), to="word2vec", quiet=True)
    with pytest.raises(ConfigError, match="a word vector file is converted to one of word2vec, "):
        export.convert(str(path))


def test_recipes_and_presets_are_listed():
    assert "translate-miniature\ttranslate\t" in good("recipes")
    assert {"name", "task", "about"} == set(json.loads(good("recipes", "--json"))[0])
    counts = {row["preset"]: row["parameters"] for row in json.loads(good("presets", "--json"))}
    assert counts["transformer-base"] == 63_082_496
    assert "63,082,496" in good("presets")


def test_config_show_prints_every_value_and_its_source():
    rows = dict(line.split("\t", 1) for line in good("config", "show", "translate-miniature", "seed=7").splitlines())
    assert rows["seed"] == "7\tthe command line\tSeed of every random choice."
    assert rows["model.heads"].startswith("4\tpreset transformer-tiny\t")
    assert rows["task"].startswith('"translate"\trecipe translate-miniature\t')
    assert rows["train.clip_norm"].startswith("1.0\tplanned: constant: it only acts on outliers\tMaximum")
    found = json.loads(good("config", "show", "translate-miniature", "--json"))
    assert found["model.width"]["source"].startswith(("preset", "recipe"))


def test_miniature_pairs_are_printed():
    lines = good("data", "miniature", "--count", 5).splitlines()
    assert len(lines) == 5 and all(line.count("\t") == 1 for line in lines)
    (row,) = (
        json.loads(line) for line in good("data", "miniature", "--count", 1, "--split", "test", "--json").splitlines()
    )
    assert set(row) == {"source", "target"}


def test_miniature_stories_are_printed_with_a_blank_line_after_each():
    text = good("data", "miniature", "--stories", "--count", 3)
    found = text.split("\n\n")
    assert len(found) == 4 and all(story.count("\n") == 1 for story in found[:3])
    lines = good("data", "miniature", "--stories", "--count", 3, "--json").splitlines()
    assert [json.loads(line) for line in lines] == [{"text": story} for story in found[:3]]


def test_a_tokenizer_is_trained_and_shown(tmp_path):
    text = tmp_path / "a.txt.gz"
    text.write_bytes(gzip.compress("Der Hund schläft. Der Hund spielt.\n".encode() * 5))
    out = tmp_path / "deep" / "tokenizer.json"
    printed = good("tokenizer", "train", text, "--kind", "bpe", "--size", 60, "--out", out)
    assert "tokens per word, 0 unknown." in printed
    rows = [line.split("\t") for line in good("tokenizer", "show", out, "Der Hund!").splitlines()]
    assert rows[0] == ["token", "id", "offsets", "text"] and rows[1][0].startswith("▁")
    found = json.loads(good("tokenizer", "show", out, "Der Hund", "--json"))
    assert found["decoded"] == "Der Hund" and len(found["ids"]) == len(found["offsets"]) == len(found["tokens"])


def test_bleu_of_files_and_of_sentences(tmp_path):
    (tmp_path / "hyp").write_text("The guard arrived late because of the rain\n")
    (tmp_path / "ref").write_text("The guard arrived late because it was raining\n")
    text = good("bleu", tmp_path / "hyp", tmp_path / "ref", "--explain")
    assert "BLEU-1 0.625  BLEU-2 0.598  BLEU-3 0.563  BLEU-4 0.517" in text
    assert "2\t4\t4\t7\t0.5714" in text
    assert "brevity penalty 1.0000 (e^(1 - r/c)), c = 8, r = 8" in text
    assert "The guard arrived late\t1\t1\t1" in text
    words = ("bleu", "--inline", "He He He eats tasty fruit", "He eats a sweet apple", "He is eating a tasty apple")
    found = json.loads(good(*words, "--json", "--explain"))
    assert found["precisions"][0]["clipped"] == 3 and found["bleu_4"] == 0
    he = next(match for match in found["matches"]["1"] if match["ngram"] == ["He"])
    assert (he["count"], he["in_references"], he["clipped"]) == (3, [1, 1], 1)


def test_the_defaults_of_a_task_can_be_shown():
    shown = json.loads(good("config", "show", "translate", "--json"))
    assert shown["data.train.path"]["value"] == "(required)" and shown["train.steps"]["source"] == "default"


def test_values_may_be_spelled_as_people_do():
    words = ["text.lowercase=True", "model.dropout=.2", "train.steps=1e3"]
    shown = json.loads(good("config", "show", "translate-miniature", *words, "--json"))
    values = [shown[word.partition("=")[0]]["value"] for word in words]
    assert values == [True, 0.2, 1000]


def test_a_tokenizer_is_not_overwritten_unless_asked_for(tmp_path):
    (tmp_path / "a.txt").write_text("ein Hund\n" * 5)
    words = ["tokenizer", "train", tmp_path / "a.txt", "--size", 30, "--out", tmp_path / "t.json", "--quiet"]
    good(*words)
    assert bad(*words) == (f"{tmp_path / 't.json'}: the file exists; choose another with --out, or give --overwrite.")
    good(*words, "--overwrite")


def test_a_setting_is_explained():
    lines = good("config", "explain", "train.warmup").splitlines()
    assert lines[0] == "train.warmup: Updates of linear warm-up from 0; below 1, a fraction of all updates."
    rows = dict(line.split("\t", 1) for line in lines[1:])
    assert rows["default"] == "1000" and rows["type"].startswith("whole number") and "translate" in rows["tasks"]
    shown = json.loads(good("config", "explain", "train.learning_rate", "translate", "train.optimizer=sgd", "--json"))
    assert shown["value"] == 0.001 and shown["source"] == "derived from train.schedule wsd"
    assert shown["default"] is None and shown["type"] == "number, above 0"


def test_all_tasks_are_listed_with_what_they_need_and_give(capsys):
    lists.tasks(json=True)
    rows = {row["task"]: row for row in json.loads(printed(capsys))}
    assert list(rows) == TASKS.names()
    assert rows["translate"]["data"].startswith("--source FILE") and rows["translate"]["verbs"][0] == "translate"
    assert rows["classify"]["init_from"] and rows["classify"]["origin"] == "built-in"
