import json

import pytest
from typer.testing import CliRunner

from bundles import small_bundle
from language_folders import TEXTS, small_language_bundle
from regard.checkpoint.bundle import read_bundle, write_bundle
from regard.cli.main import app
from regard.cli.tools.export import import_
from regard.errors import CheckpointError, RegardError
from regard.interop.huggingface.write import write
from regard.text.settings import TokenizerSettings
from regard.text.training import train_tokenizer


def good(*words) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, (result.output, result.exception)
    return result.stdout


def bad(*words) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert isinstance(result.exception, RegardError), (result.output, result.exception)
    return str(result.exception)


@pytest.fixture(scope="module")
def checkpoint(pairs, tmp_path_factory):
    tokenizer = train_tokenizer([text for pair in pairs for text in pair], TokenizerSettings(size=300))
    folder = tmp_path_factory.mktemp("checkpoints") / "marian"
    write_bundle(folder, small_bundle({"tokenizer": tokenizer}))
    return folder


def test_a_model_goes_out_and_comes_back(checkpoint, tmp_path):
    hf, back = tmp_path / "hf", tmp_path / "back"
    said = good("export", checkpoint, hf, "--to", "hf")
    assert said == (
        f"{hf}: MarianMTModel with its tokenizer.\n"
        f'Use it: transformers.AutoModelForSeq2SeqLM.from_pretrained("{hf}")\n'
    )
    said = good("import", hf, "--out", back)
    assert said.startswith(f"{back}: ") and said.endswith(f"Use it: regard translate {back} TEXT\n")
    before, after = (good("translate", folder, "Der Hund schläft.", "--json") for folder in (checkpoint, back))
    assert json.loads(before) == json.loads(after)


def test_a_language_model_is_converted_and_comes_back(tmp_path):
    from transformers import AutoModelForCausalLM

    tokenizer = train_tokenizer(TEXTS, TokenizerSettings(size=330, pretokenizer="byte-level"))
    write_bundle(tmp_path / "run", small_language_bundle(tokenizer))
    hf, back = tmp_path / "run-hf", tmp_path / "back"
    assert good("convert", tmp_path / "run", "--to", "hf") == (
        f"{hf}: GPT2LMHeadModel with its tokenizer.\n"
        f'Use it: transformers.AutoModelForCausalLM.from_pretrained("{hf}")\n'
    )
    parameters = sum(each.numel() for each in AutoModelForCausalLM.from_pretrained(hf).parameters())
    assert good("import", hf, "--out", back) == (
        f"{back}: {parameters:,} parameters, 330 tokens.\nUse it: regard generate {back} PROMPT\n"
    )
    assert read_bundle(back).settings == read_bundle(tmp_path / "run").settings
    assert bad("convert", tmp_path / "run") == f"{hf}: it exists already; name a folder that does not."
    found = json.loads(good("convert", tmp_path / "run", "--out", tmp_path / "x", "--json"))
    assert found == {"path": str(tmp_path / "x"), "form": "GPT-2", "architecture": "GPT2LMHeadModel"}
    expected = '--to: "onnx" is not one of hf, checkpoint, word2vec, word2vec-binary, glove.'
    assert bad("convert", tmp_path / "run", "--to", "onnx") == expected


def test_json(checkpoint, tmp_path):
    found = json.loads(good("export", checkpoint, tmp_path / "hf", "--json"))
    assert found == {"path": str(tmp_path / "hf"), "form": "Marian", "architecture": "MarianMTModel"}
    found = json.loads(good("import", tmp_path / "hf", "--out", tmp_path / "back", "--json"))
    assert found["path"] == str(tmp_path / "back") and found["vocabularies"]["target"] == 300


def test_mistakes(checkpoint, quick_run, tmp_path):
    assert bad("export", checkpoint, tmp_path / "x", "--to", "onnx") == 'to: "onnx" is not one of hf, checkpoint.'
    assert bad("export", quick_run.path, tmp_path / "x").startswith(
        'model.norm_order, model.positions: "pre" with "rotary" fits no Hugging Face architecture; these do: '
    )
    exists = f"{tmp_path}: it exists already; name a folder that does not."
    assert bad("export", checkpoint, tmp_path) == exists
    assert bad("import", checkpoint, "--out", tmp_path) == exists
    assert bad("import", checkpoint, "--out", tmp_path / "x") == (
        f"{checkpoint}: this is a regard checkpoint already; use it as it is."
    )
    assert list(tmp_path.iterdir()) == []


def test_a_read_only_disk_is_told_with_a_way_out(checkpoint, quick_run, tmp_path, monkeypatch):
    good("export", checkpoint, tmp_path / "hf")

    def read_only(*_, **__):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("safetensors.torch.save_file", read_only)
    out = tmp_path / "new" / "folder"
    expected = (
        f"{out}: the checkpoint could not be written (Read-only file system); free some space or name another folder."
    )
    assert bad("import", tmp_path / "hf", "--out", out) == expected
    assert bad("average", quick_run.path, "--out", out) == expected
    assert bad("export", checkpoint, out) == expected.replace("the checkpoint", "it")
    assert [path.name for path in tmp_path.iterdir()] == ["hf"]


def test_an_import_never_overwrites_and_counts_in_json(checkpoint, tmp_path, capsys):
    (tmp_path / "there").mkdir()
    with pytest.raises(CheckpointError, match="there: it exists already; name a folder that does not."):
        import_(tmp_path / "missing", tmp_path / "there")  # before anything is read
    bundle = read_bundle(checkpoint)
    write(bundle, tmp_path / "hf")
    import_(tmp_path / "hf", tmp_path / "back", json=True)
    printed = json.loads(capsys.readouterr().out)
    assert (
        printed["path"] == str(tmp_path / "back") and printed["vocabularies"]["target"] == bundle.vocabularies.target
    )
    assert printed["parameters"] == sum(each.numel() for each in bundle.model.parameters())
