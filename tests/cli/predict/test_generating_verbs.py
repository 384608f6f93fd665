"""What translators and language models are both asked for: n-best, beams, stops, streams, tables, paragraphs."""

import csv
import json

import pytest

from commands import good, refused
from generators import language_bundle, tokenizer_of
from regard.checkpoint.bundle import write_bundle
from regard.tasks.load import load

SENTENCES = "Der Hund schläft.  Anna liest ein Buch."


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("language") / "model"
    write_bundle(folder, language_bundle(tokenizer_of("byte-level"), generate={"max_new_tokens": 8}))
    return folder


def test_a_language_model_searches_with_a_beam_and_lists_its_n_best(run):
    generator = load(run, "cpu", task="language-model")
    words = ("generate", run, "Anna had", "The dog", "--method", "beam", "--beam-size", 3, "-q")
    best = generator(["Anna had", "The dog"], method="beam", beam_size=3)
    assert good(*words) == "\n".join(f"{each.text}\n" for each in best)
    listed = good(*words, "--n-best", 2)
    assert [line for line in listed.splitlines() if line.startswith("--- ")] == [
        f"--- prompt {prompt}, output {rank} of 2 ---" for prompt in (1, 2) for rank in (1, 2)
    ]
    first = json.loads(good(*words, "--n-best", 3, "--json").splitlines()[0])
    assert [each["text"] for each in first["samples"]] == [
        each.text for each in generator("Anna had", method="beam", beam_size=3, n_best=3).samples
    ]


def test_translations_list_n_best_stop_and_are_filtered(quick_run):
    translator = load(quick_run.path, "cpu", task="translate")
    words = ("translate", quick_run.path, "Der Hund schläft.", "-q")
    rows = [line.split("\t") for line in good(*words, "--n-best", 3).splitlines()]
    candidates = translator("Der Hund schläft.").candidates
    assert [row[2] for row in rows] == [each.text for each in candidates[:3]] and [row[0] for row in rows] == [*"123"]
    stop = candidates[0].text[2:4]
    assert good(*words, "--stop", stop) == candidates[0].text[: candidates[0].text.index(stop)] + "\n"
    sampled = translator("Der Hund schläft.", method="sample", min_p=0.2, seed=4).text
    assert good(*words, "--method", "sample", "--min-p", 0.2, "--seed", 4) == sampled + "\n"


def test_a_translation_that_is_alone_is_streamed(quick_run, monkeypatch):
    from regard.tasks.translate.pipeline import Translator

    words = ("translate", quick_run.path, "Der Hund schläft.", "-q")
    expected = good(*words, "--json")
    monkeypatch.setattr(Translator, "stream", lambda self, row, options, first_row: iter(["The\n", "dog"]))
    assert good(*words) == "The dog\n" and good(*words, "--json") == expected


def test_paragraphs_keep_their_white_space_in_arguments_files_pipes_and_tables(quick_run, tmp_path):
    translator = load(quick_run.path, "cpu", task="translate")
    one, other = (each.text for each in translator(["Der Hund schläft.", "Anna liest ein Buch."]))
    line, words = f"{one}  {other}", ("translate", quick_run.path, "--paragraphs", "-q")
    assert good(*words, f"{SENTENCES}\n\nAnna liest ein Buch.") == f"{line}\n\n{other}\n"
    text = f"{SENTENCES}\n\nAnna liest ein Buch.\n"
    (tmp_path / "a.de").write_text(text, encoding="utf-8")
    assert good(*words, "--file", tmp_path / "a.de") == good(*words, stdin=text) == f"{line}\n\n{other}\n"
    record = json.loads(good(*words, SENTENCES, "--json"))
    assert record["text"] == line == translator.paragraphs(SENTENCES) == translator(SENTENCES, paragraphs=True).text
    assert [each["text"] for each in record["sentences"]] == [one, other]
    (tmp_path / "a.csv").write_text(f"id,source\n1,{SENTENCES}\n", encoding="utf-8")
    printed = good(*words, "--file", tmp_path / "a.csv", "--source-column", "source")
    assert next(csv.DictReader(printed.splitlines()))["translation"] == line
    assert (
        refused(*words, SENTENCES, "--prefix", "The")
        == "prefix: The is for single sentences; omit it, or paragraphs."
    )


def test_sampled_paragraphs_do_not_depend_on_the_rows_before(quick_run):
    translator = load(quick_run.path, "cpu", task="translate")
    rows, chosen = [SENTENCES, "Ja.", SENTENCES], {"paragraphs": True, "method": "sample", "seed": 3}
    assert translator([SENTENCES], first_row=3, **chosen)[0].text == translator(rows, **chosen)[2].text


def test_a_table_of_prompts_comes_back_with_all_outputs(run, tmp_path):
    (tmp_path / "p.csv").write_text("id,prompt\n1,Anna had\n")
    printed = good(
        "generate", run, "--file", tmp_path / "p.csv", "--num-samples", 2, "-q", "--prompt-column", "prompt"
    )
    (row,) = csv.DictReader(printed.splitlines())
    first, second = json.loads(row["outputs"])
    assert row["completion"] == first and row["id"] == "1" and isinstance(second, str)
