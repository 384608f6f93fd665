import json

import pytest
from typer.testing import CliRunner

from regard.cli.main import app
from regard.cli.verbs.plan import plan
from regard.runs.planning.settings import ClusterSettings

GPT = ["plan", "language-model", "--preset", "gpt2", "--device", "h200", "text.size=50257"]


def call(*words):
    return CliRunner().invoke(app, list(words), catch_exceptions=True)


def test_the_command_of_a_plan_for_several_nodes_is_that_of_torchrun():
    lines = call(*GPT, "--nodes", "16", "--gpus", "8", "--tokens", "1e10").stdout.splitlines()
    assert any(line.startswith("hybrid over 8\t") for line in lines)
    start = "torchrun --nnodes 16 --nproc-per-node 8 "
    command = next(line for line in lines if line.startswith(start))
    assert "-m regard train language-model model.preset=gpt2 text.size=50257 train.distributed=" in command
    assert any("GPT-2 with 124 M parameters" in line and "measured" in line for line in lines)
    assert any(line.startswith("step = compute + wire") for line in lines)
    alone = call(*GPT).stdout
    assert "\nregard train language-model model.preset=gpt2 text.size=50257\n" in alone


def test_a_plan_as_json_has_every_part_of_each_strategy():
    values = json.loads(call(*GPT, "--nodes", "2", "--gpus", "8", "--tokens", "1e10", "--json").stdout)
    assert values["parameters"] == 124_439_808 and values["cluster"]["tokens"] == 1e10
    memory = values["cluster"]["strategies"][0]["memory"]
    assert memory["total"] == sum(memory[name] for name in ("states", "gathered", "activations", "logits"))
    assert values["cluster"]["recommended"] == "replicate" and len(values["cluster"]["formulas"]) > 5


def test_small_updates_on_many_devices_are_told():
    assert (
        "an update has 32 tokens for each"
        in call(*GPT, "--nodes", "16", "--gpus", "8", "train.tokens_per_update=4096").stdout
    )


def test_a_plan_for_this_machine_measures_it(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("the cat sat on the mat . " * 4000)
    words = ["model.preset=gpt-tiny", "model.width=16", "text.size=300", "train.tokens_per_update=512", "window=32"]
    done = call("plan", "language-model", "--text", str(text), "--gpus", "2", *words)
    assert done.exit_code == 0, done.stdout
    assert "measured here with" in done.stdout and "--processes 2" in done.stdout


@pytest.mark.parametrize(
    "words, sentence",
    [
        (
            ["vectors", "--device", "h200"],
            "such models train in one process, so there is nothing to plan for several",
        ),
        (["language-model", "--device", "b300"], 'device: "b300" is not one of'),
        (["language-model", "--device", "h200", "--tokens", "many"], "--tokens"),
        (["language-model", "--gpus", "2"], "it names no training data; give --text"),
        (["language-model", "--device", "h200", "--nodes", "0"], "--nodes"),
    ],
)
def test_a_mistake_is_one_sentence(words, sentence):
    done = call("plan", *words)
    assert done.exit_code != 0 and sentence in str(done.exception) + done.output, (done.exception, done.output)


def test_every_setting_of_a_cluster_is_an_option():
    text = call("plan", "--help").stdout
    assert "regard plan" in plan.__doc__ and "tokens" in ClusterSettings.model_fields
    assert all(f"--{name}" in text for name in ("nodes", "gpus", "within", "between", "overlap"))


def test_no_strategy_that_fits_is_told_with_what_helps():
    done = call(*GPT, "model.layers=900", "model.width=7680", "model.feed_forward_width=30720")
    assert "No strategy fits: " in done.stdout and "train.activation_checkpointing=true" in done.stdout
