"""Exporters: the built-in one, one of an installed package, and what is refused."""

import pytest

import regard
from commands import bad, good
from installed import installed, write_package
from regard.errors import ConfigError
from regard.runs.export.exporters import export
from regard.runs.export.hugging_face import EXPORTER
from regard.runs.run import Run
from regard.tasks.load import read_task

CODE = """
from regard.runs.export.exporters import Exported

class Counted:
    summary = "the number of parameters, as text"

    def write(self, bundle, folder, progress):
        folder.mkdir()
        count = sum(each.numel() for each in bundle.model.parameters())
        (folder / "count.txt").write_text(f"{bundle.task} {count}", encoding="utf-8")
        return Exported(folder, "count", type(bundle.model).__name__, f"open({str(folder / 'count.txt')!r})")

EXPORTER = Counted()
"""


@pytest.fixture
def counted(monkeypatch, tmp_path):
    code = {"regard_counts": CODE}
    points = {"regard.exporters": {"count": "regard_counts:EXPORTER"}}
    installed(monkeypatch, write_package(tmp_path / "package", "regard-counts", points, code))


def test_an_installed_exporter_writes_runs_checkpoints_and_pipelines(counted, tiny_runs, tmp_path):
    run = Run(tiny_runs / "classify")
    texts = []
    for number, model in enumerate((run, run.path, run.best, str(run.path), regard.load(run.path))):
        folder = export(model, tmp_path / str(number), to="count")
        texts.append((folder / "count.txt").read_text(encoding="utf-8"))
    assert len(set(texts)) == 1 and texts[0].startswith("classify ")
    out = tmp_path / "out"
    assert good("export", run.path, out, "--to", "count").splitlines() == [
        f"{out}: ModelWithHead with its tokenizer.",
        f"Use it: open({str(out / 'count.txt')!r})",
    ]


def test_an_unknown_exporter_is_refused_with_the_list(counted, tiny_runs, tmp_path):
    expected = 'to: "onnx" is not one of hf, checkpoint, count.'
    with pytest.raises(ConfigError) as error:
        export(tiny_runs / "classify", tmp_path / "x", to="onnx")
    assert str(error.value) == expected == bad("export", tiny_runs / "classify", tmp_path / "x", "--to", "onnx")
    assert not (tmp_path / "x").exists()


def test_the_built_in_exporter_writes_a_hugging_face_folder(tiny_runs, tmp_path):
    folder = export(tiny_runs / "classify", tmp_path / "hf")
    assert (folder / "config.json").exists() and EXPORTER.summary.startswith("Hugging Face")
    assert read_task(f"hf:{folder}") == "classify"
