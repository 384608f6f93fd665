"""Conversion goes to a file or folder beside the model, by the format that is named."""

import numpy as np
import pytest

from generators import language_bundle, tokenizer_of
from regard.checkpoint.bundle import write_bundle
from regard.errors import ConfigError, DataError
from regard.interop.word_vector_files import VectorTable, write_word_vectors
from regard.runs.export.convert import convert
from regard.tasks.load import load


def test_word_vectors_become_a_file_beside_theirs(tmp_path):
    path = tmp_path / "v.txt"
    write_word_vectors(path, VectorTable(["a", "b"], np.eye(2, dtype=np.float32)), "glove")
    converted = convert(str(path), "word2vec")
    assert converted.path.parent == tmp_path and converted.to_dict()["words"] == 2
    assert converted.summary == f"{converted.path}: 2 words, 2 dimensions, format word2vec."
    with pytest.raises(DataError, match="the file exists; name another with --out."):
        convert(str(path), "word2vec")
    with pytest.raises(ConfigError, match="a word vector file is converted to one of word2vec, "):
        convert(str(path), "hf")


def test_a_model_becomes_a_folder_beside_its_run(tmp_path):
    write_bundle(tmp_path / "run", language_bundle(tokenizer_of("byte-level")))
    converted = convert(str(tmp_path / "run"), "checkpoint")
    assert converted.path == tmp_path / "run-checkpoint" and load(converted.path).task == "language-model"
    assert converted.to_dict()["form"] == "checkpoint" and "\nUse it: " in converted.summary
    with pytest.raises(ConfigError, match='--to: "doc" is not one of hf, '):
        convert(str(tmp_path / "run"), "doc")
