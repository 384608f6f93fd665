"""The verbs of text encoders: fill, embed and similar."""

import csv
import io
import json

import numpy as np
import pytest

from commands import bad, good
from encoder_folders import bert_tokenizer, minilm, small_encoder_bundle
from generators import language_bundle, tokenizer_of
from regard.checkpoint.bundle import write_bundle
from regard.interop.huggingface.write import write
from regard.pipelines.encoder import Encoder

TEXTS = ["the dog sleeps in the garden", "a cat", "the old ball", "the dog"]
MASKED = "the [MASK] sleeps in the [MASK]"


@pytest.fixture(scope="module")
def encoder():
    return Encoder(small_encoder_bundle(bert_tokenizer()))


@pytest.fixture(scope="module")
def run(encoder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "bert"
    write_bundle(folder, encoder.bundle)
    return folder


def rows_of(text):
    return list(csv.reader(io.StringIO(text)))


def test_masks_are_filled_with_candidates_and_probabilities(run, encoder):
    filling = encoder.fill(MASKED, top=3)
    lines = [line.split("\t") for line in good("fill", run, MASKED, "--top", 3).splitlines()]
    assert [line[0] for line in lines] == ["1"] * 3 + ["2"] * 3
    for line, (mask, each) in zip(lines, ((m, e) for m, fillers in enumerate(filling.masks) for e in fillers)):
        assert line[1:] == [f"{each.probability:.4f}", each.token, filling.filled_with(mask, each)]
    plain = json.loads(good("fill", run, MASKED, "--json", "-k", 2))
    assert (
        plain["text"] == MASKED and plain["filled"] == filling.filled and [len(m) for m in plain["masks"]] == [2, 2]
    )
    assert set(plain["masks"][0][0]) == {"token", "id", "probability"}
    among = good("fill", run, "the [MASK]", "--candidates", "dog, cat").splitlines()
    assert {line.split("\t")[2] for line in among} == {"dog", "cat"}


def test_lines_are_filled_in_their_order_by_number(run, tmp_path):
    lines = [MASKED, "", "a [MASK]", "  "]
    (tmp_path / "in.txt").write_text("".join(f"{line}\n" for line in lines))
    piped = good("fill", run, "--top", 1, "--quiet", stdin="".join(f"{line}\n" for line in lines))
    assert piped == good("fill", run, "--file", tmp_path / "in.txt", "--top", 1, "--quiet")
    assert [line.split("\t")[:2] for line in piped.splitlines()] == [["1", "1"], ["1", "2"], ["3", "1"]]


def test_a_table_is_filled_and_comes_back(run, encoder, tmp_path):
    cells = [["id", "text", "filled"], ["1", MASKED, "x"], ["2", "", ""], ["3", 'a, "[MASK]"', "y"]]
    with (tmp_path / "in.csv").open("w", newline="") as file:
        csv.writer(file).writerows(cells)
    table = rows_of(good("fill", run, "--file", tmp_path / "in.csv", "--quiet"))
    assert table[0] == ["id", "text", "filled", "predicted_filled", "tokens", "probabilities"]
    best = encoder.fill(MASKED)
    assert table[1][:4] == [*cells[1], best.filled] and table[2] == [*cells[2], "", "", ""]
    assert table[1][4] == " ".join(fillers[0].token for fillers in best.masks) and table[3][0] == "3"
    words = good("fill", run, "-f", tmp_path / "in.csv", "--text-column", "text", "--out", tmp_path / "out.csv", "-q")
    assert words == f"{tmp_path / 'out.csv'}: 3 rows.\n" and rows_of((tmp_path / "out.csv").read_text()) == table
    records = [json.loads(line) for line in good("fill", run, "-f", tmp_path / "in.csv", "--json", "-q").splitlines()]
    assert records[0]["predicted_filled"] == best.filled and records[1]["masks"] is None
    assert records[2]["masks"][0][0]["token"] == table[3][4]


def test_vectors_are_printed_a_line_each(run, encoder):
    lines = good("embed", run, *TEXTS, "--quiet").splitlines()
    vectors = np.array([[float(word) for word in line.split("\t")] for line in lines], np.float32)
    assert np.array_equal(vectors, encoder.embed(TEXTS))
    assert good("embed", run, "-q", stdin="".join(f"{text}\n" for text in TEXTS)).splitlines() == lines
    plain = json.loads(good("embed", run, TEXTS[0], "--json", "--pooling", "cls", "--layer", "1", "--normalize"))
    expected = encoder.embed(TEXTS[0], "cls", 1, True)
    assert plain["text"] == TEXTS[0]
    np.testing.assert_allclose(plain["vector"], expected, atol=1e-6)
    tokens = [line.split("\t") for line in good("embed", run, "a cat", "the dog", "--tokens", "-q").splitlines()]
    assert [line[0] for line in tokens] == ["[CLS]", "a", "cat", "[SEP]", "", "[CLS]", "the", "dog", "[SEP]", ""]
    assert {len(line) for line in tokens} == {1, 17}


def test_vectors_are_written_to_files(run, encoder, tmp_path):
    (tmp_path / "in.txt").write_text("".join(f"{text}\n" for text in TEXTS))
    expected = encoder.embed(TEXTS)
    for ending in ("npz", "jsonl", "csv"):
        path = tmp_path / f"out.{ending}"
        assert good("embed", run, "--file", tmp_path / "in.txt", "--out", path, "-q") == f"{path}: 4 rows.\n"
    one = tmp_path / "one.npz"
    assert good("embed", run, TEXTS[0], "--out", one, "-q") == f"{one}: 1 row.\n"
    with np.load(tmp_path / "out.npz") as arrays:  # nothing pickled
        assert arrays["texts"].tolist() == TEXTS and np.array_equal(arrays["vectors"], expected)
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [line["text"] for line in lines] == TEXTS
    np.testing.assert_allclose([line["vector"] for line in lines], expected, atol=1e-7)
    rows = rows_of((tmp_path / "out.csv").read_text())
    assert rows[0] == ["text", *(f"v{number}" for number in range(16))] and [row[0] for row in rows[1:]] == TEXTS
    assert np.array_equal(np.array([row[1:] for row in rows[1:]], np.float32), expected)


def test_vectors_of_tokens_are_written_to_files(run, encoder, tmp_path):
    encoded = encoder.tokens(TEXTS, layer=0)
    for ending in ("npz", "jsonl", "csv"):
        good("embed", run, *TEXTS, "--tokens", "--layer", "0", "--out", tmp_path / f"out.{ending}", "-q")
    with np.load(tmp_path / "out.npz") as arrays:
        for number, each in enumerate(encoded):
            own = slice(*arrays["bounds"][number : number + 2])
            assert tuple(arrays["tokens"][own]) == each.tokens
            np.testing.assert_allclose(arrays["vectors"][own], each.vectors, atol=1e-6)
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [tuple(line["tokens"]) for line in lines] == [each.tokens for each in encoded]
    rows = rows_of((tmp_path / "out.csv").read_text())
    assert [row[:2] for row in rows[1:]] == [
        [str(n), token] for n, each in enumerate(encoded) for token in each.tokens
    ]


def test_a_table_gets_columns_of_features(run, encoder, tmp_path):
    (tmp_path / "in.csv").write_text("id,text\n" + "".join(f"{n},{text}\n" for n, text in enumerate(TEXTS)))
    rows = rows_of(good("embed", run, "--file", tmp_path / "in.csv", "-q"))
    assert rows[0] == ["id", "text", *(f"v{number}" for number in range(16))]
    assert np.array_equal(np.array([row[2:] for row in rows[1:]], np.float32), encoder.embed(TEXTS))
    good("embed", run, "--file", tmp_path / "in.csv", "--text-column", "1", "--out", tmp_path / "out.npz", "-q")
    with np.load(tmp_path / "out.npz") as arrays:
        assert arrays["texts"].tolist()[-4:] == TEXTS


def test_texts_are_compared(run, encoder):
    value = encoder.similar(*TEXTS[:2])
    assert good("similar", run, *TEXTS[:2]) == f"{value:.4f}\n"
    plain = json.loads(good("similar", run, *TEXTS[:2], "--json"))
    assert plain["texts"] == TEXTS[:2] and plain["similarity"][0][1] == pytest.approx(value, abs=1e-5)
    lines = good("similar", run, *TEXTS[:3]).splitlines()
    assert lines[0].split("\t") == ["text", *TEXTS[:3]] and lines[2].split("\t")[1] == f"{value:.4f}"
    other = good("similar", run, *TEXTS[:2], "--pooling", "cls", "--layer", "0")
    assert other == f"{encoder.similar(*TEXTS[:2], pooling='cls', layer=0):.4f}\n"


def test_pairs_in_lines_and_tables_are_compared(run, encoder, tmp_path):
    pairs = [(TEXTS[0], TEXTS[1]), (TEXTS[2], TEXTS[3])]
    values = [encoder.similar(*pair) for pair in pairs]
    lines = f"{pairs[0][0]}\t{pairs[0][1]}\n\n{pairs[1][0]}\t{pairs[1][1]}\n"
    assert good("similar", run, "-q", stdin=lines).splitlines() == [f"{values[0]:.4f}", "", f"{values[1]:.4f}"]
    (tmp_path / "in.csv").write_text("left,right,n\n" + "".join(f"{a},{b},{n}\n" for n, (a, b) in enumerate(pairs)))
    words = ["--file", tmp_path / "in.csv", "--text-column", "left", "--text-column", "right", "-q"]
    rows = rows_of(good("similar", run, *words))
    assert rows[0] == ["left", "right", "n", "similarity"]
    assert [float(row[3]) for row in rows[1:]] == pytest.approx(values, abs=1e-5)
    record = json.loads(good("similar", run, *words, "--json").splitlines()[1])
    assert record["n"] == "1" and record["similarity"] == pytest.approx(values[1], abs=1e-5)


def test_the_nearest_lines_are_found(run, encoder, tmp_path):
    (tmp_path / "others.txt").write_text("a cat\n\nthe ball\nthe dog\nthe cat and the dog\n")
    others = ["a cat", "the ball", "the dog", "the cat and the dog"]
    lines = [
        line.split("\t")
        for line in good(
            "similar", run, "the dog", "a cat", "--against", tmp_path / "others.txt", "--top", 2, "-q"
        ).splitlines()
    ]
    assert [line[0] for line in lines] == ["the dog"] * 2 + ["a cat"] * 2
    assert lines[0][1:] == ["1.0000", "the dog"] and lines[2][1:] == ["1.0000", "a cat"]
    values = encoder.similar(["the dog"], others)[0]
    assert lines[1][2] == others[int(np.argsort(-values)[1])]
    plain = json.loads(good("similar", run, "a cat", "--against", tmp_path / "others.txt", "--json", "-q"))
    assert len(plain["nearest"]) == 4 and plain["nearest"][0]["number"] == 0


def test_words_are_compared_in_their_texts(run):
    words = ["She went to the bank of the river", "he went to the bank for money", "--word", "bank"]
    lines = good("similar", run, *words).splitlines()
    assert lines[0] == "vectors\tcosine" and lines[2] == "without context\t1.0000"
    assert float(lines[1].removeprefix("in context\t")) < 0.99
    similarity = json.loads(good("similar", run, *words, "--word", "money", "--json"))
    assert similarity["without_context"] < 0.9


def test_a_hugging_face_folder_is_used_and_written(run, encoder, tmp_path):
    write(encoder.bundle, tmp_path / "hf")
    assert good("embed", f"hf:{tmp_path / 'hf'}", "a cat") == good("embed", run, "a cat")
    assert good("fill", f"hf:{tmp_path / 'hf'}", MASKED) == good("fill", run, MASKED)
    out = good("convert", run, "--out", tmp_path / "again", "-q")
    assert out.splitlines()[0] == f"{tmp_path / 'again'}: BertForPreTraining with its tokenizer."
    assert f'transformers.AutoModelForPreTraining.from_pretrained("{tmp_path / "again"}")' in out
    text = good("import", tmp_path / "again", "--out", tmp_path / "checkpoint")
    assert text.splitlines()[1].startswith(f"Use it: regard fill {tmp_path / 'checkpoint'} ")


def test_minilm_on_the_command_line():
    similarity = good("similar", f"hf:{minilm()}", "A man is playing a guitar.", "Somebody plays an instrument.")
    assert 0.5 < float(similarity) < 0.9
    sentence = bad("fill", f"hf:{minilm()}", "the [MASK]")
    assert sentence.startswith("fill: this model has no pretrained masked-LM head, so it cannot fill masks; use")


MISTAKES = [
    (["fill", "RUN", "the dog"], "line 1: there is no [MASK] in it; put one at the position to predict."),
    (["fill", "RUN", "[MASK]", "--file", "a.txt"], "Give either texts or --file, not both."),
    (["fill", "RUN", "[MASK]", "--text-column", "a"], "--text-column is for tables; give one with --file."),
    (["fill", "RUN", "[MASK]", "--candidates", "qqqq"], 'candidates: "qqqq" is not one token of this model'),
    (["fill", "GPT", "[MASK]"], "this is a language model, not a masked language model; use it with regard generate"),
    (
        ["embed", "GPT", "a"],
        "only a text encoder such as BERT embeds texts; use it with regard generate, score or regard evaluate.",
    ),
    (
        ["embed", "RUN", "a", "--out", "a.txt"],
        '--out a.txt: no table is written as ".txt"; use .csv, .tsv, .jsonl or .npz.',
    ),
    (
        ["embed", "RUN", "a", "--pooling", "sum"],
        "pooling: \"sum\" is not one of 'cls', 'mean' or 'max' (from --pooling).",
    ),
    (["embed", "RUN", "a", "--layer", "9"], "layer: 9 is out of range; this model has embeddings (0) and 2 blocks"),
    (["embed", "RUN", "a", "--tokens", "--pooling", "cls"], "--pooling and --normalize are for one vector per text"),
    (["embed", "RUN", "a", "--text-column", "b"], "--text-column is for tables; give one with --file."),
    (["embed", "RUN", "--file", "none.txt"], "none.txt: there is no such file"),
    (["similar", "RUN", "a"], "There is one text to compare; give two, or a file with --against."),
    (["similar", "RUN", "a", "b", "--word", "c"], 'There is no word "c" in "a"; name one that is.'),
    (["similar", "RUN", "a", "--word", "a"], "--word compares a word in two texts; give two texts after RUN."),
    (["similar", "RUN", "a", "b", *["--word", "a"] * 3], "--word a: give at most one word per text; leave this one"),
    (
        ["similar", "RUN", "a", "b", "--word", "a", "--pooling", "cls"],
        "--pooling is for vectors of texts; leave it out with --word.",
    ),
    (["similar", "RUN", "a", "b", "--out", "a.csv"], "--out is for pairs in lines or tables; leave it out."),
    (["similar", "RUN", "a", "b", "--top", "2"], "--top 2 is for the nearest lines of a file; name one with"),
    (
        ["similar", "RUN", "--file", "a.csv", "--against", "b.txt"],
        "--against takes texts or lines, not a table; ",
    ),
    (
        ["similar", "RUN", "a", "--against", "empty.txt"],
        "There are no other texts to compare with.",
    ),
]


@pytest.mark.parametrize("words, sentence", MISTAKES, ids=lambda value: str(value)[:50])
def test_mistakes_are_one_sentence(words, sentence, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.txt").write_text("\n")
    write_bundle(tmp_path / "gpt", language_bundle(tokenizer_of("byte-level"), window=24))
    assert sentence in bad(*({"RUN": run, "GPT": tmp_path / "gpt"}.get(word, word) for word in words))


def test_a_line_without_a_tab_is_no_pair(run):
    sentence = "line 2: put text and second on a line, separated by tabs."
    assert bad("similar", run, "--quiet", stdin="a\tb\nc\n") == sentence
    assert bad("fill", run, "--quiet", stdin="[MASK]\n\nc\n") == (
        "line 3: there is no [MASK] in it; put one at the position to predict."
    )
