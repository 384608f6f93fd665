"""The verbs that use a language model: generate and score."""

import json
import subprocess
import sys

import pytest

from commands import bad, good, outside, refused
from generators import STORIES, language_bundle, tokenizer_of
from regard.checkpoint.bundle import write_bundle
from regard.tasks.load import load


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("language") / "model"
    write_bundle(folder, language_bundle(tokenizer_of("byte-level"), generate={"max_new_tokens": 12}))
    return folder


@pytest.fixture(scope="module")
def generator(run):
    return load(run, "cpu", task="language-model")


def test_one_prompt_is_shown_as_it_is_said(run, generator):
    expected = generator("Anna had", seed=3).text
    assert good("generate", run, "Anna had", "--seed", 3) == expected + "\n"
    done = outside("generate", run, "Anna had", "--seed", 3, encoding="utf-8")
    assert done.returncode == 0 and done.stdout == expected + "\n" and done.stderr == ""


def test_pieces_reach_a_pipe_before_the_text_is_done(run):
    words = [
        sys.executable,
        "-m",
        "regard",
        "generate",
        str(run),
        "Anna",
        "--max-new-tokens",
        "100000",
        "--min-new-tokens",
        "100000",
    ]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as process:
        assert len(process.stdout.read(20)) == 20
        process.terminate()


def test_prompts_from_words_files_and_pipes_are_the_same(run, generator, tmp_path):
    prompts = ["Anna had", "", "日本 ist größer", "The dog"]
    path = tmp_path / "prompts.txt"
    path.write_text("\n".join(prompts) + "\n", encoding="utf-8")
    expected = "\n".join(answer.text + "\n" for answer in generator(prompts, temperature=0))
    from_file = good("generate", run, "--file", path, "--temperature", 0, "-q")
    from_pipe = good("generate", run, "--temperature", 0, "-q", stdin=path.read_text(encoding="utf-8"))
    from_words = good("generate", run, *prompts, "--temperature", 0, "-q")
    assert from_file == from_pipe == from_words == expected
    assert good("generate", run, "-q", stdin="") == ""


def test_chunks_of_a_pipe_do_not_change_draws(run, monkeypatch):
    from regard.cli import inputs

    text = "Anna\nPeter\nThe dog\nAnna\nA\n"
    whole = good("generate", run, "-q", stdin=text)
    monkeypatch.setattr(inputs, "CHUNK", 2)
    assert good("generate", run, "-q", stdin=text) == whole


def test_json_has_every_token_and_its_log_probability(run, generator):
    words = ("--json", "-q", "--num-samples", 3, "--top-p", 0.9, "--seed", 5)
    lines = [json.loads(line) for line in good("generate", run, "Anna", "The dog", *words).splitlines()]
    answers = generator(["Anna", "The dog"], num_samples=3, top_p=0.9, seed=5)
    for line, answer in zip(lines, answers, strict=True):
        assert line["prompt"] == answer.prompt and line["text"] == answer.text
        assert line["finish_reason"] == answer.finish_reason and line["tokens"] == list(answer.tokens)
        assert line["log_probabilities"] == pytest.approx(answer.log_probabilities, abs=1e-4)
        assert line["log_probability"] == pytest.approx(sum(line["log_probabilities"]), abs=1e-4)
        assert [each["text"] for each in line["samples"]] == [each.text for each in answer.samples]
    (one,) = (json.loads(line) for line in good("generate", run, "Anna", "--json").splitlines())
    assert one["samples"] == []


def test_every_setting_has_a_word(run, generator):
    words = [
        "--max-new-tokens",
        9,
        "--min-new-tokens",
        2,
        "--temperature",
        0.7,
        "--top-k",
        40,
        "--top-p",
        0.95,
        "--min-p",
        0.01,
    ]
    words += ["--repetition-penalty", 1.2, "--no-repeat-ngram-size", 2, "--stop", "qu", "--stop", "x", "--seed", 8]
    words += ["--context-window", 16, "--no-add-bos"]
    settings = {
        "max_new_tokens": 9,
        "min_new_tokens": 2,
        "temperature": 0.7,
        "top_k": 40,
        "top_p": 0.95,
        "min_p": 0.01,
    }
    settings |= {"repetition_penalty": 1.2, "no_repeat_ngram_size": 2, "stop": ["qu", "x"], "seed": 8}
    answer = generator("Anna had a", **settings, context_window=16, add_bos=False)
    assert good("generate", run, "Anna had a", *words) == answer.text + "\n"
    texts = good("generate", run, "Anna", "--num-samples", 2, "-q")
    first, second = (each.text for each in generator("Anna", num_samples=2).samples)
    assert texts == f"--- output 1 of 2 ---\n{first}\n--- output 2 of 2 ---\n{second}\n"


def test_mistakes_in_generation_are_one_sentence(run, quick_run, tmp_path):
    (tmp_path / "empty.txt").write_text("")
    assert good("generate", run, "--file", tmp_path / "empty.txt") == ""
    assert bad("generate", run, "--file", tmp_path / "no.txt").startswith(f"{tmp_path / 'no.txt'}: there is no such")
    assert bad("generate", run, "Anna", "--file", tmp_path / "empty.txt") == "Give either texts or --file, not both."
    assert bad("generate", run, "Anna", "--temperature", 0, "--top-k", 3) == (
        "top_k: 3 applies to sampling only; set temperature above 0, or omit it."
    )
    assert bad("generate", run, "Anna", "--context-window", "wide") == (
        'context_window: "wide" is neither a number of tokens nor "trained".'
    )
    assert "is not greater than or equal to 1" in bad("generate", run, "Anna", "--max-new-tokens", 0)
    assert bad("generate", run, stdin=b"Anna\nsch\xf6n\n") == "standard input: line 2 is not UTF-8 (byte 0xf6)."
    assert bad("generate", quick_run.path, "Anna") == (
        f"{quick_run.path}: this is a translator, not a language model; use it with regard translate, score or "
        f"regard evaluate."
    )
    assert bad("translate", run, "Anna") == (
        f"{run}: this is a language model, not a translator; use it with regard generate, score or regard evaluate."
    )
    assert bad("evaluate", run, "--data", "no.tsv").startswith("no.tsv: there is no such file")


def test_score_prints_log_probabilities(run, generator, tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("Anna had a dog.\n\n" + STORIES[0].replace("\n", " ") + "\n", encoding="utf-8")
    scores = json.loads(good("score", run, path, "--json", "-q", "--alternatives", 2, "--stride", 6))
    expected = generator.score(path.read_text(encoding="utf-8").splitlines(), stride=6)
    assert [each["log_probability"] for each in scores["texts"]] == pytest.approx(
        [each.log_probability for each in expected], abs=1e-3
    )
    first, blank, _ = scores["texts"]
    assert len(first["tokens"]) == len(first["ids"]) == len(first["log_probabilities"]) == len(first["alternatives"])
    assert set(first["alternatives"][0][0]) == {"token", "id", "probability"}
    assert blank["perplexity"] is None and scores["tokens"] == sum(len(each["tokens"]) for each in scores["texts"])
    assert {"perplexity", "word_perplexity", "bits_per_byte", "log_probability"} < set(scores)
    lines = good("score", run, path, "-q").splitlines()
    assert lines[0] == "log probability\ttokens\tperplexity\ttext" and lines[1].endswith("Anna had a dog.")
    assert lines[-1].startswith("perplexity ") and lines[-1].count("bits per byte") == 1
    (whole,) = json.loads(good("score", run, path, "--as-one-text", "--score-eos", "--json", "-q"))["texts"]
    assert whole["text"] == path.read_text(encoding="utf-8") and whole["tokens"][-1] == "</s>"
    assert lines[2].split("\t")[:3] == ["0.0000", "0", "-"]
    row = good("score", run, path, "--as-one-text", "-q").splitlines()[1]
    assert row.split("\t")[3] == str(path)  # and not all of what is in it
    (score,) = json.loads(good("score", run, "Anna had a dog.", "--inline", "--json", "-q"))["texts"]
    assert score["log_probability"] == pytest.approx(first["log_probability"], abs=1e-3)


def test_mistakes_in_scoring_are_one_sentence(run, quick_run, tmp_path):
    (tmp_path / "empty.txt").write_text("\n")
    (tmp_path / "a.txt").write_text("Anna.\n")
    assert bad("score", run, " ", "--inline") == '" ": there is no text to score; give some with --inline.'
    (tmp_path / "empty.txt").write_text("\n \t\n")
    assert bad("score", run, tmp_path / "empty.txt") == (
        f"{tmp_path / 'empty.txt'}: there is no text to score; write one text per line."
    )
    assert bad("score", run, tmp_path / "a.txt", tmp_path / "a.txt") == (
        f"{run}: this is a language model, not a translator; leave out TARGET."
    )
    assert bad("score", quick_run.path, tmp_path / "a.txt") == (
        f"{quick_run.path}: this is a translator; give a source file and a target file."
    )
    assert refused("score", quick_run.path, tmp_path / "a.txt", tmp_path / "a.txt", "--as-one-text") == (
        f"--as-one-text: {quick_run.path} is a translator, which scores line by line; leave it out."
    )
    assert refused("score", quick_run.path, tmp_path / "a.txt", tmp_path / "a.txt", "--stride", 4) == (
        f"--stride 4: for language models, and {quick_run.path} is a translator; leave it out."
    )
    assert bad("score", run, tmp_path / "a.txt", "--alternatives", 2) == (
        "--alternatives 2 needs --json; add it, or leave out --alternatives."
    )
    assert bad("score", run, tmp_path / "a.txt", "--stride", 99) == (
        "stride: 99 does not lie between 1 and 24, the tokens this model takes."
    )
