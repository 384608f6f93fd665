"""Cost of int8 weights in perplexity: measured once for a run and printed."""

import json
import shutil

import pytest

import regard
from commands import bad, call, good
from generators import language_bundle, tokenizer_of
from regard.checkpoint.bundle import write_bundle
from regard.nn.inference.int8 import can_multiply_int8
from regard.progress import Progress
from regard.runs.run import Run
from regard.tasks.language_model.int8_cost import COST_FILE, COST_TOKENS, measure_quantization_cost
from regard.tasks.language_model.pipeline import Generator
from regard.tasks.load import load

pytestmark = pytest.mark.skipif(not can_multiply_int8(), reason="this build of torch does not multiply int8 weights")

SMALL = {
    "text.size": 300,
    "model.preset": "gpt-tiny",
    "model.width": 32,
    "model.heads": 2,
    "model.layers": 1,
    "model.feed_forward_width": 64,
    "model.max_positions": 32,
    "data.train": {"paths": ["miniature:train"], "max_rows": 300},
    "train": {"steps": 20, "tokens_per_update": 256, "warmup": 5, "validate_every": 10, "learning_rate": 5e-3},
    "preflight": False,
}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("weights")
    return regard.train("language-model", SMALL | {"data.folder": str(folder / "corpus")}, out=folder / "run")


class Warnings(Progress):
    """Keeps warnings."""

    def __init__(self):
        self.warnings = []

    def warn(self, message):
        """Note a warning."""
        self.warnings.append(message)


def test_a_run_is_measured_once_on_its_validation_text(run, monkeypatch):
    generator = load(run.path, "cpu", quantize="int8", task="language-model")
    measured = measure_quantization_cost(run.record, generator)
    assert measured.text == "the run's validation text" and measured.cost.tokens == COST_TOKENS
    assert measured.cost.full_perplexity == pytest.approx(run.record.scores["valid"]["perplexity"], rel=0.3)
    assert measured.cost.perplexity != measured.cost.full_perplexity and 0 < measured.cost.error < 0.01

    def never(*_):
        raise AssertionError("measured again")

    with monkeypatch.context() as patch:
        patch.setattr(Generator, "weights_cost", never)
        assert measure_quantization_cost(run.record, generator) == measured
        kept = json.loads((run.path / COST_FILE).read_text(encoding="utf-8"))
        (run.path / COST_FILE).write_text(json.dumps(kept | {"measured": "another checkpoint"}))
        with pytest.raises(AssertionError, match="measured again"):
            measure_quantization_cost(run.record, generator)
    (run.path / COST_FILE).write_text("{")  # damaged: it is measured again
    assert measure_quantization_cost(run.record, generator) == measured


def test_without_its_text_stories_are_read_instead(run, tmp_path):
    moved = tmp_path / "moved"
    shutil.copytree(run.path, moved)
    (moved / COST_FILE).unlink(missing_ok=True)
    record = json.loads((moved / "run.json").read_text(encoding="utf-8"))
    record["data"]["folder"] = str(tmp_path / "gone")
    (moved / "run.json").write_text(json.dumps(record))
    progress = Warnings()
    measured = measure_quantization_cost(
        Run(moved).record, load(moved, "cpu", quantize="int8", task="language-model"), progress
    )
    assert measured.text == "stories of the miniature world" and measured.cost.tokens == COST_TOKENS
    assert progress.warnings == [f"{tmp_path / 'gone'}: the tokenized text of {moved} is not here any more."]
    assert not (tmp_path / "gone").exists()


def test_the_cost_is_printed_beside_the_text(run):
    words = ("generate", run.path, "Anna", "--quantize", "int8", "--max-new-tokens", 5, "--temperature", 0)
    expected = (
        load(run.path, "cpu", quantize="int8", task="language-model")("Anna", max_new_tokens=5, temperature=0).text
        + "\n"
    )
    done = call(*words)
    assert done.exit_code == 0 and done.stdout == expected
    cost = measure_quantization_cost(run.record, load(run.path, "cpu", quantize="int8", task="language-model"))
    assert " ".join(done.stderr.split()) == str(cost)  # on lines of some width
    assert str(cost).endswith(f"% (± {cost.cost.error:.3%}) over 512 tokens of the run's validation text")
    silent = call(*words, "-q")
    assert silent.stdout == expected and silent.stderr == ""


def test_a_checkpoint_alone_is_measured_on_stories(tmp_path):
    write_bundle(tmp_path / "model", language_bundle(tokenizer_of("byte-level")))
    generator = load(tmp_path / "model", "cpu", quantize="int8", task="language-model")
    measured = measure_quantization_cost(None, generator)
    assert measured.text == "stories of the miniature world" and measured.cost.tokens == COST_TOKENS
    assert not (tmp_path / "model" / COST_FILE).exists()


def test_score_prints_both_perplexities(run, tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("Anna had a dog.\nPeter went to the market. He was happy.\n", encoding="utf-8")
    plain = json.loads(good("score", run.path, path, "--json", "-q"))
    assert "weights_cost" not in plain
    scores = json.loads(good("score", run.path, path, "--quantize", "int8", "--json", "-q"))
    cost = scores["weights_cost"]
    assert cost["full_perplexity"] == pytest.approx(plain["perplexity"], rel=1e-5)
    assert cost["perplexity"] == pytest.approx(scores["perplexity"], rel=1e-5)
    assert cost["change"] == pytest.approx(cost["perplexity"] / cost["full_perplexity"] - 1) != 0
    lines = good("score", run.path, path, "--quantize", "int8", "-q").splitlines()
    assert lines[-1].startswith(f"int8 weights: perplexity {cost['perplexity']:.4f}, with full weights ")
    assert lines[-1].endswith(f" over {scores['tokens']} tokens") and lines[-2].startswith("perplexity ")
    assert bad("score", run.path, path, "--quantize", "int3") == 'quantize: "int3" is not one of none, int8.'
    assert bad("generate", run.path, "Anna", "--quantize", "int8", "--precision", "bf16") == (
        "quantize: int8 weights go with the precision fp32, not bf16; leave one of them out."
    )
