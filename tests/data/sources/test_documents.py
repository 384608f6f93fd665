"""Documents come whole, in order and in little memory out of files of every form."""

import gzip
import json
import subprocess
import sys

import pytest

from regard.data.settings.text import TextData, TextSource
from regard.data.sources import documents, lines
from regard.data.sources.documents import CHUNK, DocumentSpan, chunks_of
from regard.data.sources.text_files import find_inputs, read_documents
from regard.errors import DataError

NASTY = (
    "\ufeffa\u2028b\x85c\x0bd\x00e \U0001f469\u200d\U0001f680 e\u0301\u0327\u0335 \u202egnihton\u202c ﷽ \U0010ffff"
)


def written(path, text):
    data = text if isinstance(text, bytes) else text.encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return str(path)


def read(*paths, **settings):
    return list(read_documents(TextSource(paths=paths, **settings)))


def message(*paths, **settings):
    with pytest.raises(DataError) as error:
        read(*paths, **settings)
    return str(error.value)


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_a_document_is_a_file_or_what_blank_lines_part_or_a_line(tmp_path, ending):
    path = written(tmp_path / f"a.txt{ending}", "eins\r\nzwei\n \t\n\ndrei\n")
    assert read(path) == ["eins\nzwei\n \t\n\ndrei\n"]
    assert read(path, documents="blank-lines") == ["eins\nzwei", "drei"]
    assert read(path, documents="lines") == ["eins", "zwei", "drei"]


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_a_json_line_is_a_document_whatever_a_plain_one_is(tmp_path, ending):
    rows = [{"page": {"body": "eins\n\nzwei"}}, {"page": {"body": "drei"}}, {"page": {"body": " "}}]
    path = written(tmp_path / f"a.jsonl{ending}", "\n\n".join(map(json.dumps, rows)))
    for each in ("file", "blank-lines", "lines"):
        assert read(path, documents=each, field="page.body") == ["eins\n\nzwei", "drei"]


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_a_row_of_a_table_is_a_document(tmp_path, ending):
    rows = 'id,Text,other\n1,"one, two\nlines",x\n2,,y\n3,three,z\n'
    path = written(tmp_path / f"a.csv{ending}", rows)
    assert read(path) == ["one, two\nlines", "three"]
    assert read(path, field="other") == ["x", "y", "z"]
    assert read(written(tmp_path / f"a.tsv{ending}", "text\tn\none\t1\ntwo\t2\n")) == ["one", "two"]
    assert message(written(tmp_path / f"b.csv{ending}", "a,b\n1,2\n")) == (
        f'{tmp_path / "b.csv"}{ending}: this table has no column "text" (a, b); name the one that holds the text, '
        f"such as data.train.field=NAME (if it is not a table, name it .txt)."
    )


def test_folders_are_searched_for_text_in_the_order_of_paths(tmp_path):
    for name in ("b.txt", "a/z.md", "a/b/c.txt.gz", "a.jsonl", ".hidden/x.txt", "no.png", "no.csv"):
        written(tmp_path / name, json.dumps({"text": name}) if name.endswith("jsonl") else name)
    assert read(str(tmp_path)) == ["a/b/c.txt.gz", "a/z.md", "a.jsonl", "b.txt"]


def test_a_file_named_twice_is_read_once(tmp_path):
    path = written(tmp_path / "a.txt", "eins")
    assert read(path, str(tmp_path), path) == ["eins"]


def test_a_file_of_any_name_is_plain_text_when_it_is_named_itself(tmp_path):
    assert read(written(tmp_path / "README", "eins")) == ["eins"]


def test_count_takes_the_first_documents_of_all_files(tmp_path):
    one, two = (written(tmp_path / f"{name}.txt", "a\nb\n") for name in ("one", "two"))
    assert read(one, two, documents="lines", max_rows=3) == ["a", "b", "a"]


@pytest.mark.parametrize("each", ["file", "blank-lines", "lines"])
def test_odd_characters_come_through_and_only_line_feeds_end_a_line(tmp_path, monkeypatch, each):
    path = written(tmp_path / "a.txt", NASTY)
    for block in (1, 3, 2**20):  # characters and line ends may lie across blocks
        monkeypatch.setattr(lines, "BLOCK", block)
        assert read(path, documents=each) == [NASTY.removeprefix("\ufeff")]
    monkeypatch.setattr(lines, "BLOCK", 1)
    assert read(written(tmp_path / "b.txt", "a\r\n\r\nb\rc\r\n"), documents="blank-lines") == ["a", "b\rc"]


def test_long_documents_come_in_pieces_that_make_them_up(tmp_path, monkeypatch):
    text = "".join(f"Zeile {number} mit Wörtern.\n" + "\n" * (number % 3 == 0) for number in range(3000))
    for each in ("file", "lines", "blank-lines"):
        for block in (2**20, 1000):
            monkeypatch.setattr(documents, "BLOCK", block)
            monkeypatch.setattr(lines, "BLOCK", block)
            path = written(tmp_path / "a.txt", text if each == "file" else text.replace("\n", " "))
            pieces = list(find_inputs(TextSource(paths=(path,), documents=each))[0].pieces())
            assert "".join(piece.text for piece in pieces) == (text if each == "file" else text.replace("\n", " "))
            assert [piece.is_last for piece in pieces] == [False] * (len(pieces) - 1) + [True]
            assert max(len(piece.text) for piece in pieces) <= CHUNK < len(text) / 10
            assert sum(piece.consumed for piece in pieces) == len(text.encode())


def test_pieces_do_not_depend_on_the_parts_in_which_a_document_came():
    text = "Wort " * 5000 + "ohne" * 5000 + "\n\n\n" * 3000 + "Zeile\n" * 3000
    whole = [piece.text for piece in chunks_of([DocumentSpan(text, True, 0)])]
    for size in (1, 100, 7777):
        parts = [DocumentSpan(text[start : start + size], False, 0) for start in range(0, len(text), size)]
        assert [piece.text for piece in chunks_of([*parts, DocumentSpan("", True, 0)])] == whole


def test_data_sets_of_the_datasets_library(tmp_path):
    import datasets

    datasets.Dataset.from_dict({"body": ["eins", "zwei"]}).save_to_disk(str(tmp_path / "set"))
    assert read(f"hf:{tmp_path / 'set'}", field="body") == ["eins", "zwei"]
    assert message(f"hf:{tmp_path / 'set'}") == (
        f'hf:{tmp_path / "set"}: record 1 has no text under "text" (it has body); name the field that holds it, '
        f"such as data.train.field=NAME."
    )


def test_a_split_that_is_not_there_is_told(tmp_path):
    import datasets

    rows = datasets.Dataset.from_dict({"text": ["eins"]})
    rows.save_to_disk(str(tmp_path / "one"))
    datasets.DatasetDict({"test": rows, "dev": rows}).save_to_disk(str(tmp_path / "two"))
    for name, known in (("one", "train"), ("two", "test, dev")):
        place = f"hf:{tmp_path / name}"
        assert message(place, split="tset") == f'{place}: there is no split "tset"; it has {known}.'
    assert read(f"hf:{tmp_path / 'two'}", split="dev") == ["eins"]


def test_a_missing_file_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert message("no.txt") == f"no.txt: there is no such file (looked in {tmp_path}); check the path."


def test_a_folder_without_text_is_told(tmp_path):
    written(tmp_path / "a.png", "x")
    assert message(str(tmp_path)) == (
        f"{tmp_path}: there is no text in this folder (.txt, .md or .jsonl, each also .gz); name another folder, or "
        f"the files themselves."
    )


def test_text_of_nothing_but_white_space_is_told(tmp_path):
    path = written(tmp_path / "a.txt", " \n\t\n")
    assert message(path) == f"{path}: there is no text in it (empty or only white space); name files with text."


def test_wrong_encodings_are_told_with_the_line(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "BLOCK", 5)
    path = written(tmp_path / "a.txt", b"eins\nzwei\n" + "drü\n".encode("latin1"))
    assert message(path) == (
        f"{path}: line 3 is not UTF-8 (byte 0xfc); convert the file, for example with iconv -f latin1 -t utf-8."
    )
    path = written(tmp_path / "b.txt", "eins\n".encode("utf-16"))
    assert message(path) == f"{path}: this is UTF-16; convert it with iconv -f utf-16 -t utf-8."
    path = written(tmp_path / "c.txt", "ende ü".encode()[:-1])
    assert message(path).startswith(f"{path}: line 1 is not UTF-8 (byte 0xc3)")


def test_damaged_gzip_is_told(tmp_path):
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"text " * 1000)[:-20])
    assert message(str(path)) == f"{path}: the gzip data is damaged; fetch or compress the file again."


def test_json_that_is_none_is_told_with_path_and_line(tmp_path):
    good = '{"text": "eins"}\n'
    path = written(tmp_path / "a.jsonl", good + '{"text": \n')
    assert message(path) == f"{path}: line 2 is not JSON (Expecting value); write one object per line."
    path = written(tmp_path / "b.jsonl", good + "\n[1]\n")
    assert message(path) == f"{path}: line 3 is not a JSON object; write one object per line."
    path = written(tmp_path / "c.jsonl", good + '{"body": "x", "id": 1}\n')
    assert message(path) == (
        f'{path}: line 2 has no text under "text" (it has body, id); name the field that holds it, such as '
        f"data.train.field=NAME."
    )
    path = written(tmp_path / "f.jsonl", '{"text": 3}\n')
    assert message(path).startswith(f'{path}: line 1 has no text under "text" (but 3); name the field')
    path = written(tmp_path / "d.jsonl", '{"text": "\\ud800"}\n')
    assert message(path) == (f'{path}: line 1 has half a character (a lone surrogate) under "text"; write it whole.')
    path = written(tmp_path / "e.json", good)
    assert message(path) == f"{path}: .json holds one value; write one object per line and name the file .jsonl."


def test_the_training_text_is_no_validation_text():
    place = {"paths": ["a.txt"]}
    with pytest.raises(ValueError, match='valid: "a.txt" is the training text too; leave it out'):
        TextData(train=place, valid=place)


@pytest.mark.parametrize("each, end", [("file", "\n"), ("blank-lines", "\n\n"), ("lines", "\n"), ("lines", " ")])
def test_a_large_file_is_read_in_little_memory(tmp_path, each, end):
    path = tmp_path / "large.txt"
    with path.open("w") as file:
        for number in range(60):
            file.write((f"Zeile {number} der Datei, die viel zu groß ist. " * 40 + end) * 500)
    code = (
        "import sys, tracemalloc\n"
        "from regard.data.sources.text_files import find_inputs\n"
        "from regard.data.settings.text import TextSource\n"
        "tracemalloc.start()\n"
        "place = TextSource(paths=(sys.argv[1],), documents=sys.argv[2])\n"
        "size = sum(len(piece.text) for piece in find_inputs(place)[0].pieces())\n"
        "print(size, tracemalloc.get_traced_memory()[1])\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path), each], capture_output=True, text=True, check=True)
    size, peak = map(int, done.stdout.split())
    assert path.stat().st_size > 50e6 and size > 45e6 and peak < 16e6


def test_a_document_is_joined_within_the_limit(tmp_path, monkeypatch):
    monkeypatch.setenv("REGARD_MAX_TEXT_BYTES", "10K")
    path = written(tmp_path / "a.txt", b"word " * 3000)
    with pytest.raises(
        DataError, match=r"a\.txt: document 1 has more than 10 KiB of text, the most that is read at on"
    ):
        list(read_documents(TextSource(paths=(str(path),))))


def test_utf_32_is_called_by_its_name(tmp_path):
    path = written(tmp_path / "b.txt", "eins\n".encode("utf-32"))
    assert message(path) == f"{path}: this is UTF-32; convert it with iconv -f utf-32 -t utf-8."
