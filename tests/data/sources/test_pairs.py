import gzip
import json

import pytest

from regard.data.settings.pairs import PairData, PairSource
from regard.data.sources.lines import read_lines
from regard.data.sources.pair import Pair
from regard.data.sources.pairs import read_pairs, read_references
from regard.errors import DataError
from regard.progress import Progress

PAIRS = [Pair("Der Hund schläft.", "The dog sleeps."), Pair("Ja, ja!", "Yes, yes!")]


def message(place):
    with pytest.raises(DataError) as error:
        read_pairs(place)
    return str(error.value)


def written(path, text):
    path.write_text(text, encoding="utf-8")
    return str(path)


def aligned(folder, source, target):
    return PairSource(source=written(folder / "a.de", source), target=written(folder / "a.en", target))


def test_two_files_line_by_line(tmp_path):
    place = aligned(tmp_path, "Der Hund schläft.\nJa, ja!\n", "The dog sleeps.\nYes, yes!")
    assert read_pairs(place) == PAIRS


@pytest.mark.parametrize(
    "name, text",
    [
        ("p.tsv", "Der Hund schläft.\tThe dog sleeps.\nJa, ja!\tYes, yes!\n"),
        ("p.tsv", "target\tsource\nThe dog sleeps.\tDer Hund schläft.\nYes, yes!\tJa, ja!\n"),
        ("p.csv", 'Der Hund schläft.,The dog sleeps.\n"Ja, ja!","Yes, yes!"\n'),
        ("p.csv", 'source,target\nDer Hund schläft.,The dog sleeps.\n"Ja, ja!","Yes, yes!"\n'),
        ("p.jsonl", "".join(json.dumps(pair._asdict()) + "\n" for pair in PAIRS)),
    ],
)
@pytest.mark.parametrize("is_packed", [False, True])
def test_tables_of_every_kind(tmp_path, name, text, is_packed):
    path = tmp_path / (name + ".gz" if is_packed else name)
    path.write_bytes(gzip.compress(text.encode()) if is_packed else text.encode())
    assert read_pairs(PairSource(path=str(path))) == PAIRS


def test_columns_are_taken_by_number_or_name_and_said(tmp_path):
    said = []

    class Listening(Progress):
        def info(self, message):
            said.append(message)

    three = written(tmp_path / "p.tsv", "1\tThe dog\tDer Hund\n2\tYes\tJa\n")
    assert read_pairs(PairSource(path=three, source_column=2, target_column=1), Listening())[1] == Pair("Ja", "Yes")
    named = written(tmp_path / "n.csv", "id,English,German\n1,Yes,Ja\n")
    place = PairSource(path=named, source_column="german", target_column="english")
    assert read_pairs(place, Listening()) == [Pair("Ja", "Yes")]
    assert said == [
        'p.tsv: source is column 2, target is column 1 (counted from 0); the first pair is "Der Hund" and "The dog".',
        'n.csv: source is column 2, target is column 1 (counted from 0); the first pair is "Ja" and "Yes".',
    ]


def test_json_fields_may_lie_inside(tmp_path):
    path = written(tmp_path / "p.jsonl", '{"translation": {"de": "Ja", "en": "Yes"}}\n')
    place = PairSource(path=path, source_column="translation.de", target_column="translation.en")
    assert read_pairs(place) == [Pair("Ja", "Yes")]


def test_count_takes_the_first_pairs(tmp_path):
    assert len(read_pairs(PairSource(path="miniature:train", max_rows=7))) == 7
    place = aligned(tmp_path, "a\nb\nc\n", "x\ny\nz\n").model_copy(update={"max_rows": 2})
    assert read_pairs(place) == [Pair("a", "x"), Pair("b", "y")]


def test_lines_end_at_line_feeds_only_and_windows_files_work(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("\ufeffeins\u2028zwei\x85drei\r\nvier\r\n\r\n".encode())
    assert read_lines(path) == ["eins\u2028zwei\x85drei", "vier", ""]


def test_data_sets_of_the_datasets_library(tmp_path):
    import datasets

    rows = {"translation": [{"de": pair.source, "en": pair.target} for pair in PAIRS]}
    columns = {"source_column": "translation.de", "target_column": "translation.en"}
    datasets.Dataset.from_dict(rows).save_to_disk(str(tmp_path / "one"))
    assert read_pairs(PairSource(path=f"hf:{tmp_path / 'one'}", **columns)) == PAIRS
    splits = datasets.DatasetDict({"test": datasets.Dataset.from_dict(rows)})
    splits.save_to_disk(str(tmp_path / "splits"))
    assert read_pairs(PairSource(path=f"hf:{tmp_path / 'splits'}", split="test", **columns)) == PAIRS
    folder = tmp_path / "folder"
    folder.mkdir()
    written(folder / "train.jsonl", "".join(json.dumps(pair._asdict()) + "\n" for pair in PAIRS))
    assert read_pairs(PairSource(path=f"hf:{folder}")) == PAIRS


def test_a_missing_file_is_named(tmp_path):
    place = PairSource(source=str(tmp_path / "no.de"), target=str(tmp_path / "no.en"))
    assert message(place) == f"{tmp_path / 'no.de'}: there is no such file; check the path."


def test_a_relative_path_is_told_with_the_folder_it_was_looked_for_in(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert (
        message(PairSource(path="no.tsv")) == f"no.tsv: there is no such file (looked in {tmp_path}); check the path."
    )


def test_files_of_different_length_are_told_with_both_counts_and_the_likely_place(tmp_path):
    place = aligned(tmp_path, "a\nb\nc\nd\n", "x\n\ny\nz\nw\n")
    assert message(place) == (
        f"{tmp_path / 'a.de'} has 4 lines but {tmp_path / 'a.en'} has 5, and line 2 is blank in {tmp_path / 'a.en'} "
        "only, so the shift may begin there; each line must be the translation of the same line in the other file."
    )
    place = aligned(tmp_path, "a\nb\n", "x\n")
    assert message(place) == (
        f"{tmp_path / 'a.de'} has 2 lines but {tmp_path / 'a.en'} has 1; each line must be the translation of the "
        "same line in the other file."
    )


def test_text_that_is_not_utf8_is_told_by_file_and_line(tmp_path):
    (tmp_path / "a.de").write_bytes(b"gut\n" + "schön\n".encode("latin1"))
    place = PairSource(source=str(tmp_path / "a.de"), target=written(tmp_path / "a.en", "good\nfine\n"))
    assert message(place) == (
        f"{tmp_path / 'a.de'}: line 2 is not UTF-8 (byte 0xf6); convert the file, for example with "
        "iconv -f latin1 -t utf-8."
    )


def test_an_empty_corpus_is_told(tmp_path):
    place = aligned(tmp_path, "", "")
    assert message(place) == f"{tmp_path / 'a.de'} and {tmp_path / 'a.en'}: there are no sentence pairs in it."


def test_tables_that_cannot_be_read_are_told(tmp_path):
    path = written(tmp_path / "p.tsv", "a\tb\tc\n")
    assert message(PairSource(path=path)) == (
        f"{path}: the first row has 3 columns; name two with source_column and target_column (numbers "
        "from 0, or names in a header row)."
    )
    path = written(tmp_path / "q.tsv", "a\tb\nc\n")
    assert message(PairSource(path=path)) == f"{path}: line 2 has 1 column, but column 1 (counted from 0) is needed."
    path = written(tmp_path / "r.csv", "id,text\n1,a\n")
    place = PairSource(path=path, source_column="german", target_column="text")
    assert message(place) == f'{path}: there is no column "german" in its header (id, text).'
    path = written(tmp_path / "s.jsonl", '{"source": "a", "target": "b"}\n{"source": "a"\n')
    assert message(PairSource(path=path)).startswith(f"{path}: line 2 is not JSON (")
    path = written(tmp_path / "t.jsonl", '{"de": "a", "en": "b"}\n')
    assert message(PairSource(path=path)) == (
        f'{path}: record 1 has no text under "source" (it has de, en); name the fields with source_column and '
        "target_column."
    )
    path = written(tmp_path / "u.docx", "x")
    assert message(PairSource(path=path)) == (
        f'{path}: the extension ".docx" is not a format of pairs; use .tsv, .csv or .jsonl (each also .gz), or give '
        "two files as source and target."
    )


def test_damaged_gzip_and_folders_are_told(tmp_path):
    path = tmp_path / "p.tsv.gz"
    path.write_bytes(gzip.compress(b"a\tb\n" * 100)[:-20])
    assert message(PairSource(path=str(path))) == (
        f"{path}: the gzip data is damaged; fetch or compress the file again."
    )
    (tmp_path / "d.tsv").mkdir()
    assert message(PairSource(path=str(tmp_path / "d.tsv"))) == (
        f"{tmp_path / 'd.tsv'}: this is a folder, not a file; name a file inside it."
    )


def test_a_place_is_one_place():
    with pytest.raises(ValueError, match="target: give both source and target, or a path that holds both"):
        PairSource(source="a")
    with pytest.raises(ValueError, match='path: "p" is given with source or target; give one or the other'):
        PairSource(source="a", path="p")


def test_blank_rows_are_left_to_cleaning(tmp_path):
    nothing = Pair("", "")
    assert read_pairs(PairSource(path=written(tmp_path / "a.tsv", "\nJa\tYes\n\t\n"))) == [
        nothing,
        Pair("Ja", "Yes"),
        nothing,
    ]
    assert read_pairs(PairSource(path=written(tmp_path / "a.csv", "Ja,Yes\n\nNein,No\n")))[1] == nothing
    rows = '{"source": "Ja", "target": "Yes"}\n\n'
    assert read_pairs(PairSource(path=written(tmp_path / "a.jsonl", rows))) == [Pair("Ja", "Yes"), nothing]


def test_pairs_beyond_the_count_are_told(tmp_path):
    said = []

    class Listening(Progress):
        def info(self, message):
            said.append(message)

    path = written(tmp_path / "a.jsonl", '{"source": "Ja", "target": "Yes"}\n' * 3)
    assert len(read_pairs(PairSource(path=path, max_rows=2), Listening())) == 2
    assert said == [f"{path}: the first 2 of 3 pairs are used (max_rows)."]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "a.jsonl",
            '{"source": "\\ud800", "target": "x"}\n',
            'record 1 has half a character (a lone surrogate) under "source"',
        ),
        ("a.csv", "Ja; Yes\nNein\n", "the first row is one column; a .csv needs a comma between the two"),
        ("a.json", "[]", ".json holds one value; write one object per line and name the file .jsonl"),
    ],
)
def test_files_in_the_wrong_form_are_told(tmp_path, name, text, expected):
    with pytest.raises(DataError) as error:
        read_pairs(PairSource(path=written(tmp_path / name, text)))
    assert expected in str(error.value)


def test_columns_must_be_two(tmp_path):
    path = written(tmp_path / "a.tsv", "Ja\tYes\n")
    with pytest.raises(DataError, match="source and target are both column 0; name two columns"):
        read_pairs(PairSource(path=path, source_column=0, target_column=0))
    with pytest.raises(ValueError):
        PairSource(path=path, source_column=-1)


def references(place):
    return read_references(place, read_pairs(place))


def test_further_references_come_from_files(tmp_path):
    place = aligned(tmp_path, "Ja.\nNein.\n", "Yes.\nNo.\n")
    more = tuple(written(tmp_path / name, text) for name, text in (("b.en", "Yeah.\nNope.\n"), ("c.en", "Y.\nN.\n")))
    assert references(place) == [["Yes."], ["No."]]
    assert references(place.model_copy(update={"references": more})) == [
        ["Yes.", "Yeah.", "Y."],
        ["No.", "Nope.", "N."],
    ]
    short = written(tmp_path / "d.en", "Yes.\n")
    with pytest.raises(DataError, match="a.de has 2 lines but .*d.en has 1; each line must be the translation of"):
        references(place.model_copy(update={"references": (short,)}))


def test_further_references_come_from_columns(tmp_path):
    named = written(tmp_path / "n.tsv", "source\ttarget\tother\nJa.\tYes.\tYeah.\n")
    assert references(PairSource(path=named, reference_columns=("other",))) == [["Yes.", "Yeah."]]
    bare = written(tmp_path / "b.tsv", "Ja.\tYes.\tYeah.\nNein.\tNo.\tNope.\n")
    numbered = PairSource(path=bare, target_column=1, reference_columns=(2,), max_rows=1)
    assert references(numbered) == [["Yes.", "Yeah."]]
    records = written(tmp_path / "r.jsonl", '{"source": "Ja.", "target": "Yes.", "more": {"en": "Yeah."}}\n')
    assert references(PairSource(path=records, reference_columns=("more.en",))) == [["Yes.", "Yeah."]]
    with pytest.raises(DataError) as error:
        references(PairSource(path=named, reference_columns=(2,)))
    assert str(error.value) == (
        f"{named}: 1 targets but 2 further references; give all columns by name, or all by number."
    )


@pytest.mark.parametrize(
    "place, reason",
    [
        (
            {"path": "p.tsv", "references": ("b.en",)},
            "references: these files go with source and target; for",
        ),
        (
            {"source": "a", "target": "b", "reference_columns": (2,)},
            "reference_columns: these need a path; for",
        ),
    ],
)
def test_references_belong_to_their_kind_of_place(place, reason):
    with pytest.raises(ValueError, match=reason):
        PairSource(**place)


def test_only_test_sets_have_several_references():
    several = PairSource(source="a", target="b", references=("c",))
    with pytest.raises(ValueError, match="train: several references are for test sets; leave them out here."):
        PairData(train=several)
    assert PairData(train=PairSource(path="a.tsv"), test={"t": several}).test["t"] == several
