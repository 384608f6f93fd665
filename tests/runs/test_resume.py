"""What a run survives: kills, full disks, damaged checkpoints, changed files, absurd lines."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import regard
from regard.data.cleaning import _hash_fraction
from regard.errors import CheckpointError, DataError, RunError
from regard.progress import Progress
from regard.runs.average import average
from regard.runs.planning.recipes import find_recipe
from regard.runs.run import Run
from regard.runs.verify import CLOCKS, largest_difference, verify_resume

SMALL = {
    "model": {"preset": "transformer-tiny", "width": 16, "feed_forward_width": 32},
    "model.encoder_layers": 1,
    "model.decoder_layers": 1,
    "text.size": 300,
    "text.kind": "word",
    "train": {"tokens_per_update": 300, "steps": 12, "warmup": 4, "validate_every": 4, "log_every": 3},
    "train.schedule": "inverse-sqrt",
    "validation.bleu_sentences": 0,
}


class Telling(Progress):
    def __init__(self):
        self.said, self.warned = [], []

    def info(self, message):
        self.said.append(message)

    def warn(self, message):
        self.warned.append(message)


def losses(run: Run) -> list[dict]:
    """Return the records of a run without what a clock says."""
    records = [json.loads(line) for line in (run.path / "metrics.jsonl").read_text().splitlines()]
    return [{k: v for k, v in record.items() if k not in CLOCKS} for record in records]


def tensors(run: Run) -> tuple[bytes, bytes]:
    return tuple((run.latest / name).read_bytes() for name in ("model.safetensors", "training/optimizer.safetensors"))


def assert_same(one: Run, other: Run) -> None:
    assert tensors(one) == tensors(other) and losses(one) == losses(other)
    assert one.record.steps == other.record.steps and one.record.best_step == other.record.best_step
    for key in ("bleu", "loss"):
        assert one.scores["valid"].get(key) == other.scores["valid"].get(key)


@pytest.mark.slow
@pytest.mark.parametrize(("kills", "places"), [(5, 2), (20, 4)])
def test_a_run_killed_at_many_moments_ends_as_one_never_disturbed(kills, places, tmp_path):
    script = Path(__file__).with_name("killing.py")
    words = [sys.executable, script, tmp_path, str(kills), "3"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    fell = json.loads(done.stdout)
    assert len(fell) == kills and len(set(fell)) >= places  # the latest checkpoint at each kill
    straight = Run(tmp_path / "straight")
    assert len(losses(straight)) == 8 + 5
    for path in tmp_path.glob("killed-*"):
        killed = Run(path)
        assert_same(straight, killed)
        names = [path.name for path in [*killed.path.iterdir(), *killed.checkpoints.folder.iterdir()]]
        assert [name for name in names if name.startswith(".")] == [".lock"]


def test_a_run_killed_before_its_first_checkpoint_starts_again(tmp_path, pairs):
    straight = regard.train("translate", SMALL, data=pairs, out=tmp_path / "straight")
    begun = Run(tmp_path / "begun")
    begun.path.mkdir()
    record = json.loads((straight.path / "run.json").read_text())
    begun.note(state="preparing", **{name: record[name] for name in ("task", "settings", "sources")})
    (begun.path / "metrics.jsonl").write_text('{"step": 3, "ce": 5.0}\n{"st')
    telling = Telling()
    regard.resume(begun.path, progress=telling)
    assert f"{begun.path}: stopped before its first checkpoint, so it starts again from step 0." in telling.said
    assert_same(straight, begun)


def test_a_run_that_fails_before_training_leaves_nothing(tmp_path):
    with pytest.raises(DataError, match="Every pair is longer than 1 tokens"):
        regard.train(
            "translate",
            SMALL | {"data.cleaning.max_tokens": 1},
            data=[("ein Hund", "a dog")] * 9 + [("zwei Hunde", "two dogs")],
            out=tmp_path / "deep" / "run",
        )
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def stopped(tmp_path, pairs):
    """A run of 8 steps out of 12, and one that was never stopped."""
    straight = regard.train("translate", SMALL, data=pairs, out=tmp_path / "straight")
    cut = regard.train("translate", SMALL | {"train.steps": 8}, data=pairs, out=tmp_path / "cut")
    return straight, cut


def test_a_damaged_latest_checkpoint_falls_back_to_the_one_before(stopped):
    straight, cut = stopped
    damaged = cut.latest / "training" / "optimizer.safetensors"
    data = bytearray(damaged.read_bytes())
    data[-1] ^= 1
    damaged.write_bytes(data)
    telling = Telling()
    regard.resume(cut.path, {"train.steps": 12}, progress=telling)
    assert telling.warned == [
        f"{damaged}: damaged, its contents changed since it was written; copy it again. Resuming from the checkpoint "
        "before it, step 4."
    ]
    assert_same(straight, cut)


def test_two_damaged_checkpoints_end_a_run_in_one_sentence(stopped):
    _, cut = stopped
    for name in cut.checkpoints.index.kept:
        (cut.checkpoints.folder / name / "model.safetensors").unlink()
    with pytest.raises(CheckpointError) as error:
        regard.resume(cut.path, {"train.steps": 12})
    assert str(error.value) == (
        f"{cut.latest / 'model.safetensors'}: missing, so the checkpoint is incomplete; copy it again; there "
        "is no intact checkpoint before it to resume from."
    )


def test_another_machine_is_said(stopped):
    _, cut = stopped
    cut.note(machine=cut.record.machine.plain | {"processor": "abacus"})
    telling = Telling()
    regard.resume(cut.path, {"train.steps": 12}, progress=telling)
    assert len(telling.warned) == 1
    assert telling.warned[0].startswith("processor was abacus and is ")
    assert telling.warned[0].endswith(" now: the run continues, but not to the bit as it would have.")


def test_a_changed_data_file_is_refused_unless_forced(tmp_path, pairs):
    path = tmp_path / "a.tsv"
    path.write_text("".join(f"{pair.source}\t{pair.target}\n" for pair in pairs))
    run = regard.train("translate", SMALL | {"data.train.path": str(path)}, out=tmp_path / "run")
    path.write_text("".join(f"{pair.source}\t{pair.target}\n" for pair in pairs[:100]))
    with pytest.raises(RunError) as error:
        regard.resume(run.path, {"train.steps": 20})
    assert str(error.value) == (
        f"{path}: the file changed since the run began, so resuming would not continue the same run; restore it, "
        "start a new run, or resume regardless with --force."
    )
    telling = Telling()
    regard.resume(run.path, {"train.steps": 20}, force=True, progress=telling)
    assert f"{path}: the file is not what the run began with; continuing with it as it is now." in telling.warned
    assert run.record.steps == 20 and run.record.report.model_dump()["train"]["read"] == 100
    path.unlink()
    with pytest.raises(RunError) as error:
        regard.resume(run.path, {"train.steps": 30})
    assert str(error.value) == (
        f"{path}: the run was trained on this file, but it is missing; put it back to resume."
    )


def test_a_line_of_twenty_thousand_tokens_is_survived_and_counted(tmp_path, pairs):
    endless = (" ".join(["Buch", *["lang"] * 20_000]), " ".join(["dog"] * 20_000))
    assert 0.05 < _hash_fraction(endless[0]) < 0.45  # one fraction holds the long line out, the other does not
    for name, fraction in (("valid", 0.45), ("train", 0.05)):
        settings = SMALL | {"data.valid_fraction": fraction, "train.steps": 2, "train.warmup": 1}
        run = regard.train(
            "translate",
            settings | {"validation.bleu_sentences": 500},
            data=[*pairs, endless],
            out=tmp_path / f"run{name}",
        )
        assert [part for part in ("train", "valid") if run.record.report.model_dump()[part]["dropped"]] == [name]
        assert run.record.report.model_dump()[name]["dropped"] == {"too long": 1}


def test_a_run_whose_patience_is_over_stays_so(tmp_path, pairs):
    settings = SMALL | {"train.patience": 1, "train.learning_rate": 1e-12, "train.optimizer": "sgd"}
    run = regard.train(
        "translate", settings | {"train.steps": 400, "train.validate_every": 2}, data=pairs, out=tmp_path / "run"
    )
    assert run.record.state == "no improvement" and (steps := run.record.steps) < 400
    run.note(state="running")  # killed while the test sets were being scored
    regard.resume(run.path)
    assert run.record.state == "no improvement" and run.record.steps == steps


def test_resume_is_verified(tmp_path, monkeypatch):
    recipe = tmp_path / "mine.toml"
    (tmp_path / "a.tsv").write_text("".join(f"eins {n % 7} zwei\tone {n % 7} two {n}\n" for n in range(200)))
    recipe.write_text(f'task = "translate"\ndata.train.path = "{tmp_path / "a.tsv"}"\n')
    before = set(Path("/tmp").glob("regard-verify-*"))
    proof = verify_resume(find_recipe(str(recipe)), SMALL | {"train.schedule": "cosine"}, steps=6)
    assert (proof.steps, proof.interrupted_at, proof.device) == (6, 3, "cpu")
    assert proof.is_exact and proof.weights == proof.optimizer == proof.losses == 0
    assert set(Path("/tmp").glob("regard-verify-*")) <= before
    # The proof can fail: without the optimizer's state the second half trains differently.
    monkeypatch.setattr("regard.training.recoverable.restore_optimizer", lambda *_: None)
    assert not verify_resume(find_recipe(str(recipe)), SMALL, steps=6).is_exact


def test_differences_are_told():
    import torch

    one = {"a": torch.tensor([1.0, 2.0])}
    assert largest_difference(one, {"a": torch.tensor([1.0, 2.5])}) == 0.5
    assert largest_difference(one, {"b": one["a"]}) == largest_difference(one, {"a": torch.ones(3)}) == float("inf")
    assert largest_difference(one, {"a": torch.tensor([1.0, float("nan")])}) == float("inf")


def test_checkpoints_are_averaged(tmp_path, pairs):
    from safetensors.torch import load_file

    run = regard.train(
        "translate", SMALL | {"train.keep_last": 3, "train.keep_best": 2}, data=pairs, out=tmp_path / "run"
    )
    made = average([run.path])
    assert made.path == run.path / "averaged" and [folder.name for folder in made.checkpoints] == [
        "00000012",
        "00000008",
        "00000004",
    ]
    weights = [load_file(folder / "model.safetensors") for folder in made.checkpoints]
    for name, value in load_file(made.path / "model.safetensors").items():
        expected = sum(each[name].double() for each in weights) / 3
        assert (value - expected).abs().max() < 1e-7
    assert isinstance(regard.load(made.path)("Der Hund schläft.").text, str)
    assert len(average([run.path], tmp_path / "best", count=2, which="best").checkpoints) == 2
    with pytest.raises(RunError) as error:
        average([run.path])
    assert str(error.value) == (f"{made.path}: this exists already; remove it, or choose another folder with --out.")
    with pytest.raises(CheckpointError) as error:
        average([run.path], tmp_path / "more", count=5)
    assert str(error.value) == (
        f"{run.path}: there are 3 checkpoints to average, not 5; train with train.keep_last=5 or more."
    )
    with pytest.raises(RunError) as error:
        average([run.latest], tmp_path / "more")
    assert str(error.value) == (
        f"{run.latest}: this is a single checkpoint, so there is nothing to average; name its run."
    )


def test_a_run_is_not_cut_back(tmp_path):
    few = {"data.train.max_rows": 300, "data.valid.max_rows": 20, "data.test.test.max_rows": 2}
    few |= {f"data.test.unseen-{part}.max_rows": 2 for part in ("pairs", "cases", "depth")}
    run = regard.train("translate-miniature", SMALL | few, out=tmp_path / "run")
    record = json.loads((run.path / "run.json").read_text())
    (run.path / "run.json").write_text(json.dumps(record | {"state": "stopped"}))
    with pytest.raises(RunError, match="12 steps are done already; give train.steps=N above that, or leave it out."):
        regard.resume(run.path, {"train.steps": 11})


def test_a_run_whose_rate_has_fallen_to_0_is_not_resumed(tmp_path):
    pairs = "".join(f"{pair.source}\t{pair.target}\n" for pair in regard.miniature.pairs("train", 60))
    (tmp_path / "pairs.tsv").write_text(pairs)
    fallen = {"train.schedule": "wsd", "train.patience": 1, "data.train.path": str(tmp_path / "pairs.tsv")}
    run = regard.train("translate", SMALL | fallen, out=tmp_path / "run", progress=False)
    assert run.record.state == "finished"
    with pytest.raises(RunError, match=f"at step {run.record.steps}, its learning rate has fallen to 0; start"):
        regard.resume(run.path, {"train.steps": 90}, progress=False)
