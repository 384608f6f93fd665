"""The tokenizer of running text: trained once, kept as long as most of the text is the same."""

import pytest

from regard.data.settings.text import TextSource
from regard.data.sources.text_files import find_inputs
from regard.errors import DataError
from regard.tasks.text.tokenizer import MADE_FROM, TOKENIZER, corpus_tokenizer, made_before, sample_text, sign_of
from regard.text.settings import CorpusTextSettings

SMALL = CorpusTextSettings(size=300)


@pytest.fixture
def source(tmp_path):
    for number in range(4):
        (tmp_path / f"{number}.txt").write_text(f"Anna had {number} dogs and a cat.\n" * 20)
    return TextSource(paths=tuple(str(tmp_path / f"{number}.txt") for number in range(4)))


def test_a_tokenizer_is_trained_on_text_from_all_over(tmp_path):
    path = tmp_path / "long.txt"
    path.write_text("\n".join(f"line {number} of many" for number in range(20_000)), encoding="utf-8")
    some = "".join(sample_text(TextSource(paths=(str(path),)), limit=50_000))
    assert 30_000 < len(some) < 80_000 and "line 7 " in some and "line 199" in some


def test_a_kept_tokenizer_is_loaded_and_other_settings_train_another(source, tmp_path, monkeypatch):
    first = corpus_tokenizer(source, SMALL, tmp_path / "corpus")
    with monkeypatch.context() as patch:
        patch.setattr("regard.tasks.text.tokenizer.train_tokenizer", None)  # must not be called
        assert corpus_tokenizer(source, SMALL, tmp_path / "corpus").to_json() == first.to_json()
        named = CorpusTextSettings(tokenizer=str(tmp_path / "corpus" / TOKENIZER))
        assert corpus_tokenizer(source, named, tmp_path / "nowhere").to_json() == first.to_json()
    other = corpus_tokenizer(source, CorpusTextSettings(size=270), tmp_path / "corpus")
    assert other.size < first.size


def test_a_tokenizer_is_trained_again_when_half_of_the_text_has_changed(source, tmp_path):
    first = corpus_tokenizer(source, SMALL, tmp_path / "corpus").to_json()
    (tmp_path / "0.txt").write_text("Zebras zigzag.\n" * 9)
    assert corpus_tokenizer(source, SMALL, tmp_path / "corpus").to_json() == first
    for number in range(1, 4):
        (tmp_path / f"{number}.txt").write_text("Zebras zigzag.\n" * 60)
    assert corpus_tokenizer(source, SMALL, tmp_path / "corpus").to_json() != first


@pytest.mark.parametrize("name", [TOKENIZER, MADE_FROM])
def test_a_damaged_tokenizer_is_trained_again(source, tmp_path, name):
    first = corpus_tokenizer(source, SMALL, tmp_path / "corpus").to_json()
    (tmp_path / "corpus" / name).write_text("{")
    assert made_before(tmp_path / "corpus")["inputs"] == {} or name == TOKENIZER
    assert corpus_tokenizer(source, SMALL, tmp_path / "corpus").to_json() == first
    assert (tmp_path / "corpus" / TOKENIZER).read_text(encoding="utf-8") != "{"


def test_an_unchanged_file_is_not_hashed_again(source, monkeypatch):
    each = find_inputs(source)[0]
    before = sign_of(each, None)
    monkeypatch.setattr(type(each), "fingerprint", None)  # must not be called
    assert sign_of(each, before) == before
    with pytest.raises(TypeError):
        sign_of(each, before | {"glance": [0, 0]})


def test_a_tokenizer_that_cannot_be_written_is_one_sentence(source, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match=r"file: the tokenizer cannot be written \(.+\); free some space"):
        corpus_tokenizer(source, SMALL, tmp_path / "file")
