import json
import shlex
import shutil
import struct

import pytest
from typer.testing import CliRunner

import regard
from regard.cli.main import app
from regard.errors import RunError
from regard.progress import Progress
from regard.runs.evaluate import evaluate
from regard.runs.reports.card import leave_card, repeat_command
from regard.runs.reports.curves import curve_panels, draw_curves
from regard.runs.run import Run
from regard.runs.train import train
from regard.tasks.contract import find_task

TINY = {
    "model.width": 16,
    "model.feed_forward_width": 32,
    "model.encoder_layers": 1,
    "model.decoder_layers": 1,
    "text.size": 600,
    "train.tokens_per_update": 300,
    "train.steps": 3,
    "train.warmup": 2,
    "validation.bleu_sentences": 2,
}


@pytest.fixture
def run(quick_run, tmp_path):
    shutil.copytree(quick_run.path, tmp_path / "run")
    return Run(tmp_path / "run")


def picture_size(path):
    """Return the width and height of a PNG."""
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n") and data.endswith(b"IEND\xaeB`\x82")
    return struct.unpack(">II", data[16:24])


def section(card, title):
    return card.split(f"## {title}\n")[1].split("\n## ")[0]


def block(text, language):
    return text.split(f"```{language}\n")[1].split("```")[0]


def test_a_finished_run_has_curves_and_a_card(quick_run):
    card = (quick_run.path / "README.md").read_text()
    quick_run.card()
    assert picture_size(quick_run.path / "curves.png") == (1100, 704)
    record = quick_run.record
    assert f"{record.parameters:,} parameters" in card and "finished after 60 steps, best at step 60" in card
    scores = section(card, "Scores")
    test = json.loads((quick_run.path / "scores" / "test.json").read_text())
    low, high = test["intervals"]["bleu"]
    assert rf"| test | 30 | {test['bleu']:.2f} \[{low:.2f}, {high:.2f}\] |" in scores
    assert f"- BLEU: `{test['scores'][0]['signature']}`" in scores and test["checkpoint"]["sha256"] in scores
    assert test["test_set"]["sources"][:12] in scores and test["test_set"]["references"][0][:12] in scores
    assert "BLEU there is of the validation set (greedy, first sentences)" in section(card, "Curves")
    assert "| train | `miniature:train` (at most 1,500) | 1,500 |" in section(card, "Data")
    settings = section(card, "Settings")
    assert "| `train.steps` | `60` | the command line |" in settings
    assert (
        "| `model.heads` | `4` | preset transformer-tiny |" in settings and "| `seed` | `1` | default |" in settings
    )
    machine = section(card, "Time and hardware")
    assert f"| torch | {record.machine.plain['torch']} |" in machine and f"| regard | {record.regard} |" in machine
    assert f"| training | {record.seconds:,.1f} s |" in machine and machine.count("| regard |") == 1
    assert f"| of it waiting for data | {100 * record.data_wait_seconds / record.seconds:.2f} % |" in machine


def test_the_card_s_own_examples_work(quick_run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    use = section((quick_run.path / "README.md").read_text(), "Use it")
    names: dict[str, object] = {}
    exec(block(use, "python").replace("translator(", "text = translator("), names)
    words = shlex.split(block(use, "sh"))
    result = CliRunner().invoke(app, [*words[1:], "--quiet"])
    assert result.exit_code == 0 and result.stdout.strip() == names["text"]


def test_both_ways_to_repeat_a_run_give_the_same_weights(tmp_path, monkeypatch, pairs):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a b.tsv").write_text("".join(f"{pair.source}\t{pair.target}\n\tx\n" for pair in pairs))
    run = train("translate", TINY | {"data.train.path": "a b.tsv", "seed": 4, "about": "42"}, out="runs/first")
    card = (run.path / "README.md").read_text()
    assert "| valid | held out of train |" in card and "300 empty" in section(card, "Data")
    assert "`a b.tsv`" in section(card, "Data") and run.record.report.model_dump()["files"]["a b.tsv"] in card
    repeat = section(card, "Repeat it")
    words = shlex.split(block(repeat, "sh"))
    assert words[-2:] == ["--out", "runs/first-again"]
    result = CliRunner().invoke(app, [*words[1:], "--quiet"])
    assert result.exit_code == 0, result.output
    weights = (run.best / "model.safetensors").read_bytes()
    again = Run(run.path.with_name("first-again"))
    assert (again.best / "model.safetensors").read_bytes() == weights
    assert again.record.settings.plain == run.record.settings.plain
    shutil.rmtree(again.path)
    exec(block(repeat, "python"), {})
    assert (again.best / "model.safetensors").read_bytes() == weights


def test_a_run_from_pairs_repeats_from_the_pairs_it_kept(tmp_path, monkeypatch, pairs):
    monkeypatch.chdir(tmp_path)
    run = train("translate", TINY, data=pairs, out="runs/mine")
    (file,) = (run.path / "data").iterdir()
    assert repeat_command(run.record).startswith(f"regard train translate data.train.path={file} model.width=16 ")
    assert repeat_command(run.record.model_copy(update={"sources": {"seed": "the call"}})) is None


def test_a_card_follows_later_evaluations_on_other_data_too(run, tmp_path):
    evaluate(run.path, test_set="test", device="cpu", beam_size=2)
    path = run.path / "README.md"
    assert r"test.beam\_size=2" in path.read_text()
    (tmp_path / "other.tsv").write_text("Der Hund schläft.\tThe dog sleeps.\n")
    evaluate(run, str(tmp_path / "other.tsv"), device="cpu")
    assert "| other.tsv | 1 |" in path.read_text()
    scores = section(path.read_text(), "Scores")
    assert r"| test.beam\_size=2 | 30 |" in scores and "beam size 2, length penalty average | best |" in scores
    manifest = json.loads((run.best / "manifest.json").read_text())
    manifest["config.json"]["sha256"] = "0" * 64  # as if training had continued to another best model
    (run.best / "manifest.json").write_text(json.dumps(manifest))
    assert "| an earlier checkpoint |" in section(run.card().read_text(), "Scores")


def test_a_run_without_scores_or_metrics_has_a_card_too(run):
    shutil.rmtree(run.path / "scores")
    run.note(scores={})
    (run.path / "metrics.jsonl").unlink()
    card = run.card().read_text()
    assert f"None yet; `regard evaluate {run.path}` computes them." in section(card, "Scores")
    assert picture_size(run.path / "curves.png") == (550, 352)


def test_a_run_that_has_not_begun_has_no_card(run):
    whole = json.loads((run.path / "run.json").read_text())
    kept = {key: whole[key] for key in ("format", "task", "settings", "sources", "regard", "started")}
    (run.path / "run.json").write_text(json.dumps(kept | {"state": "preparing"}))
    with pytest.raises(RunError) as error:
        run.card()
    assert str(error.value) == (
        f"{run.path}: this run has not begun to train (preparing, or killed), so it has no card yet."
    )


def test_a_user_s_own_readme_is_left_alone(run):
    (run.path / "README.md").write_text("my notes")
    with pytest.raises(RunError) as error:
        run.card()
    expected = f"{run.path / 'README.md'}: this was not written by regard; move it away to make room for the card."
    assert str(error.value) == expected
    assert (run.path / "README.md").read_text() == "my notes"


def test_a_card_that_cannot_be_written_does_not_spoil_the_run(run):
    class Warned(Progress):
        def warn(self, message):
            self.message = message

    warned = Warned()
    (run.path / "curves.png").unlink()
    (run.path / "curves.png").mkdir()
    leave_card(run, warned)
    assert warned.message == (
        f"{run.path}: the card could not be written (Is a directory); regard card {run.path} tries again."
    )


def test_an_interrupted_run_has_a_card(tmp_path, pairs):
    class Stopping(Progress):
        def bar(self, title, total=None, done=0):
            if title == "train":
                import signal

                signal.raise_signal(signal.SIGINT)
            return super().bar(title, total, done)

    run = Run(tmp_path / "run")
    with pytest.raises(KeyboardInterrupt):
        regard.train("translate", TINY | {"train.steps": 50}, data=pairs, out=run.path, progress=Stopping())
    assert run.record.state == "interrupted"
    assert "; interrupted after 1 steps" in (run.path / "README.md").read_text()
    run.card()
    assert picture_size(run.path / "curves.png") in ((1100, 704), (1100, 352), (550, 352))


def test_curves_show_plain_losses_and_whatever_was_recorded():
    task = find_task("translate")
    metrics = [
        {"step": 10, "epoch": 0, "ce": 5.0, "nll": 4.0, "learning_rate": 0.1, "tokens_per_second": 7.0},
        {"step": 10, "valid_loss": 4.5, "valid_bleu": 3.0},
        {"step": 20, "epoch": 0, "ce": 4.0, "nll": 3.0, "learning_rate": 0.2, "tokens_per_second": 8.0},
    ]
    lines = lambda given: {panel.title: panel.lines for panel in curve_panels(given, task)}
    assert lines(metrics) == {
        "loss per target token": {"train": ([10, 20], [4.0, 3.0]), "valid": ([10], [4.5])},
        "BLEU (validation, greedy, first sentences)": {"valid": ([10], [3.0])},
        "learning rate": {"train": ([10, 20], [0.1, 0.2])},
        "target tokens per second": {"train": ([10, 20], [7.0, 8.0])},
    }
    other = [{"step": 1, "spans": 2.0, "learning_rate": 0.1}]
    assert lines(other) == {
        "loss per target token": {"train": ([1], [2.0])},
        "learning rate": {"train": ([1], [0.1])},
    }
    assert lines([]) == {}


def test_the_best_checkpoint_is_marked_where_a_panel_has_its_validation():
    metrics = [{"step": step, "valid_loss": 5.0 - step, "learning_rate": 0.1} for step in (1, 2)]
    panels = {panel.title: panel for panel in curve_panels(metrics, find_task("translate"))}
    assert panels["loss per target token"].value_at(2) == 3.0
    assert panels["loss per target token"].value_at(3) is None and panels["learning rate"].value_at(2) is None


def test_curves_survive_metrics_that_are_no_numbers(tmp_path):
    metrics = [
        {"step": step, "nll": value, "learning_rate": 0.1}
        for step, value in enumerate([1.0, float("nan"), float("inf")])
    ]
    draw_curves(metrics, tmp_path / "c.png", find_task("translate"), best_step=1)
    assert picture_size(tmp_path / "c.png") == (1100, 352)
