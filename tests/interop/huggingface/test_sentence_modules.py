"""Modules of sentence-transformers give the defaults of embeddings, and come back."""

import json

import pytest

from regard.errors import CheckpointError
from regard.interop.huggingface.sentence_transformers import sentence_facts, write_sentence_modules


@pytest.mark.parametrize("pooling", ["mean", "cls", "max"])
@pytest.mark.parametrize("is_normalized", [True, False])
def test_what_is_written_comes_back(pooling, is_normalized, tmp_path):
    embed = {"pooling": pooling, "is_normalized": is_normalized, "max_length": 64}
    write_sentence_modules(tmp_path, 16, embed)
    assert sentence_facts(tmp_path) == {"embed": embed}
    modules = json.loads((tmp_path / "modules.json").read_text())
    assert [module["type"].rpartition(".")[2] for module in modules] == ["Transformer", "Pooling", "Normalize"][
        : 3 if is_normalized else 2
    ]
    assert json.loads((tmp_path / "1_Pooling" / "config.json").read_text())["word_embedding_dimension"] == 16


def test_a_folder_without_modules_has_no_defaults(tmp_path):
    assert sentence_facts(tmp_path) == {}


def modules(tmp_path, *kinds, **pooling):
    (tmp_path / "1").mkdir()
    (tmp_path / "1" / "config.json").write_text(json.dumps(pooling))
    entries = [{"type": f"sentence_transformers.models.{kind}", "path": "1"} for kind in kinds]
    (tmp_path / "modules.json").write_text(json.dumps(entries))
    return sentence_facts(tmp_path)["embed"]["pooling"]


@pytest.mark.parametrize(
    ("kinds", "config", "pooling"),
    [
        (("Transformer", "Pooling"), {"pooling_mode": "mean"}, "mean"),
        (("Transformer", "Pooling"), {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, "cls"),
        (
            ("Transformer", "Pooling"),
            {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True},
            "pooling_mode_cls_token+pooling_mode_mean_tokens",
        ),
        (("Transformer", "Pooling"), {}, "none"),
        (("Transformer", "Pooling", "Dense"), {"pooling_mode": "mean"}, "dense"),
        (("Transformer",), {}, "none"),
    ],
)
def test_the_pooling_is_named_even_where_it_is_not_supported(kinds, config, pooling, tmp_path):
    assert modules(tmp_path, *kinds, **config) == pooling


def test_modules_that_are_no_list_are_refused(tmp_path):
    (tmp_path / "modules.json").write_text("{}")
    with pytest.raises(CheckpointError, match=r"modules\.json: this is not a list of modules \("):
        sentence_facts(tmp_path)
