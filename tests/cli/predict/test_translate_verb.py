"""The verbs that use a run: translate, evaluate, score."""

import json
import subprocess
import sys

import pytest

from commands import TINY, bad, call, corpus, good, refused


def test_translate_keeps_order_and_blank_lines(quick_run, tmp_path):
    path = tmp_path / "in.de"
    path.write_text("Der Hund schläft.\n\nAnna liest ein Buch.\n")
    from_file = good("translate", quick_run.path, "--file", path, "--quiet").split("\n")
    assert len(from_file) == 4 and from_file[1] == "" and from_file[0] and from_file[2] and from_file[3] == ""
    from_pipe = good("translate", quick_run.path, "--quiet", stdin="Der Hund schläft.\n\nAnna liest ein Buch.\n")
    from_words = good("translate", quick_run.path, "Der Hund schläft.", "", "Anna liest ein Buch.", "--quiet")
    assert from_pipe.split("\n") == from_words.split("\n") == from_file
    assert good("translate", quick_run.path, stdin="") == ""


def test_translate_gives_scores_and_candidates_as_json(quick_run):
    lines = good(
        "translate", quick_run.path, "--json", "--beam-size", 4, "--n-best", 3, "-q", stdin="Der Hund schläft.\n\n"
    )
    first, blank = (json.loads(line) for line in lines.splitlines())
    assert {"source", "text", "score", "tokens", "candidates"} == set(first)
    assert len(first["candidates"]) == 3 and first["candidates"][0]["text"] == first["text"]
    assert blank["text"] == "" and blank["candidates"] == []


def test_evaluate_prints_signatures_and_json(quick_run, tmp_path):
    text = good("evaluate", quick_run.path, "--beam-size", 1, "--quiet")
    assert "BLEU: nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:" in text and "unseen-depth" in text
    (tmp_path / "p.tsv").write_text("Der Hund schläft.\tThe dog sleeps.\n")
    found = json.loads(good("evaluate", quick_run.path, "--data", tmp_path / "p.tsv", "--json", "--quiet"))
    (only,) = found.values()
    assert {"BLEU", "chrF", "TER"} == {score["name"] for score in only["scores"]}
    assert {"loss", "perplexity", "sentences_per_second", "decode", "sentences"} <= set(only)


def test_text_that_is_too_long_is_one_sentence(tmp_path):
    files = corpus(tmp_path)
    learned = ["model.positions=learned", "model.max_positions=60", "train.steps=2", "train.warmup=0"]
    good("train", "translate", *files, "--out", tmp_path / "run", "--quiet", *TINY, *learned)
    said = bad("translate", tmp_path / "run", "--quiet", stdin="Ja.\n" + "sehr " * 300 + "\n")
    assert said.startswith("line 2 has ") and said.endswith(
        "tokens, but this model takes 60 at most; split it into sentences."
    )


def test_a_line_in_is_a_line_out_whatever_the_model_says(quick_run, monkeypatch):
    from regard.text.tokenizer import Tokenizer

    monkeypatch.setattr(Tokenizer, "decode_batch", lambda self, rows: ["one\ntwo\u2028three" for _ in rows])
    assert good("translate", quick_run.path, "Ja.", "Nein.").splitlines() == ["one two three"] * 2


def test_a_line_is_named_by_its_number_in_the_whole_input(tmp_path, pairs):
    import regard

    tiny = dict(word.split("=") for word in TINY)
    learned = {"model.positions": "learned", "model.max_positions": 40, "train.steps": 1}
    overrides = {key: int(value) for key, value in tiny.items()} | learned
    run = regard.train("translate", overrides | {"train.warmup": 0}, data=pairs, out=tmp_path / "run")
    text = "Ja.\n" * 600 + "Ja. " * 50 + "\n"
    result = call("translate", run.path, "--quiet", stdin=text)
    assert str(result.exception).startswith("line 601 has ") and result.stdout.count("\n") == 512


def test_a_text_that_is_no_text_is_told(quick_run):
    words = [sys.executable, "-m", "regard", "translate", str(quick_run.path), b"sch\xf6n"]
    done = subprocess.run(words, capture_output=True)
    assert (
        done.returncode == 2
        and done.stderr == b'regard: SOURCE: "sch\\udcf6n" is not UTF-8 text; convert it first.\n'
    )


def test_translate_draws_begins_and_lists(quick_run):
    words = ("translate", quick_run.path, "Der Hund schläft.", "-q")
    draws = [
        good(*words, "--method", "sample", "--temperature", 0.8, "--top-p", 0.9, "--seed", seed)
        for seed in (1, 1, 2, 3)
    ]
    assert draws[0] == draws[1] and len(set(draws)) > 1
    found = json.loads(good(*words, "--method", "sample", "--n-best", 3, "--json"))
    assert len(found["candidates"]) == 3
    assert good(*words, "--prefix", "The small").startswith("The small")
    rows = [line.split("\t") for line in good(*words, "--prefix", "The", "--alternatives", 3).splitlines()]
    assert rows[0] == ["probability", "token", "text"] and len(rows) == 4
    assert all(row[2].startswith("The") for row in rows[1:])
    assert len(json.loads(good(*words, "--alternatives", 2, "--json"))) == 2
    assert good(*words, "--ensemble", quick_run.best) == good(*words)
    short = json.loads(good(*words, "--max-length", 4, "--min-length", 4, "--no-repeat-ngram-size", 1, "--json"))
    assert len(short["tokens"]) in (3, 4) and len(set(short["tokens"])) == len(short["tokens"])
    rest = (
        "--length-penalty",
        "gnmt",
        "--length-penalty-alpha",
        0.6,
        "--coverage-penalty",
        0.2,
        "--repetition-penalty",
        1.2,
    )
    assert good(*words, *rest).strip()


def test_draws_from_a_pipe_are_those_of_a_file(quick_run, tmp_path, monkeypatch):
    from regard.cli import inputs

    text = "Der Hund schläft.\n\n" * 4
    (tmp_path / "a.de").write_text(text)
    words = ("translate", quick_run.path, "-q", "--method", "sample", "--seed", 3)
    whole = good(*words, "--file", tmp_path / "a.de")
    monkeypatch.setattr(inputs, "CHUNK", 3)
    assert good(*words, stdin=text) == whole and len(set(whole.split("\n"))) > 2


def test_score_tells_how_probable_translations_are(quick_run, tmp_path):
    (tmp_path / "a.de").write_text("Der Hund schläft.\nAnna liest.\n")
    (tmp_path / "a.en").write_text("The dog sleeps.\nAnna reads.\n")
    found = json.loads(good("score", quick_run.path, tmp_path / "a.de", tmp_path / "a.en", "--json", "-q"))
    first = found["sentences"][0]
    assert abs(sum(first["log_probabilities"]) - first["log_probability"]) < 1e-6
    assert found["tokens"] == sum(len(each["tokens"]) for each in found["sentences"])
    lines = good("score", quick_run.path, tmp_path / "a.de", tmp_path / "a.en", "-q").splitlines()
    assert lines[1].split("\t")[3] == "The dog sleeps." and lines[-1].startswith("perplexity ")
    alone = json.loads(
        good("score", quick_run.path, "Der Hund schläft.", "The dog sleeps.", "--inline", "--json", "-q")
    )
    assert abs(alone["log_probability"] - first["log_probability"]) < 1e-4
    (tmp_path / "b.en").write_text("One.\n")
    assert refused("score", quick_run.path, tmp_path / "a.de", tmp_path / "b.en").startswith(
        f"{tmp_path / 'a.de'} has 2 lines but {tmp_path / 'b.en'} has 1"
    )


def test_contradictions_in_decoding_are_one_sentence(quick_run, tmp_path):
    words = ("translate", quick_run.path, "Ja.")
    assert (
        refused(*words, "--method", "sample", "--beam-size", 4)
        == 'beam_size: 4 applies to beam search only; omit it, or set method "beam".'
    )
    assert (
        refused(*words, "--top-p", 0.9) == 'top_p: 0.9 applies to sampling only; set method "sample" too, or omit it.'
    )
    assert refused(*words, "--n-best", 9) == "n_best: 9 is more than beam_size 5; raise that."
    assert refused("translate", quick_run.path, "--alternatives", 2) == (
        "--alternatives is for one text; give it after RUN, without --out."
    )
    assert refused(*words, "--alternatives", 2, "--n-best", 3, "--json") == (
        "n_best: 3 has no meaning with alternatives; leave one of them out."
    )
    assert refused(*words, "--paragraphs", "--n-best", 3) == (
        "n_best: 3 is for single sentences; omit it, or paragraphs."
    )
    assert refused(*words, "--file", tmp_path / "x") == "Give either texts or --file, not both."
    assert refused("config", "show", "translate-miniature", "decode.min_length=9", "decode.max_length=5") == (
        "decode.min_length: 9 is more than max_length 5."
    )
    said = bad("translate", quick_run.path, "-q", stdin="Ja.\n" + "sehr " * 20_000 + "\n")
    assert said.startswith("line 2 has 2") and "more than decode.max_source_length 1,024" in said


def test_metrics_of_nothing_are_null(quick_run, tmp_path):
    """A pair longer than evaluation takes leaves no loss."""
    for side, line in (("de", "Hund " * 3000), ("en", "dog")):
        (tmp_path / f"long.{side}").write_text(line + "\n", encoding="utf-8")
    words = ("evaluate", quick_run.path, "--source", tmp_path / "long.de", "--target", tmp_path / "long.en", "-q")
    refuse = lambda constant: pytest.fail(f"{constant} is not JSON")
    (facts,) = json.loads(good(*words, "--json"), parse_constant=refuse).values()
    assert facts["loss"] is None
    assert "set\tsentences\tBLEU\tchrF\tTER\tsentences/s\n" in good(*words)


def test_an_unknown_precision_is_told(quick_run):
    assert "is not one of fp32, bf16" in refused("translate", quick_run.path, "Ja.", "--precision", "fp8")
