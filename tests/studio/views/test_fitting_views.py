from regard.runs.run import Run
from regard.studio.views.fitting import views_of

SELF_ATTENTION = {"attention", "intervene", "steps", "rank"}


def test_models_with_heads_have_all_views_of_attention_whatever_their_task(studio_runs, tiny_runs):
    for folder in (studio_runs / "translator", *(tiny_runs / name for name in ("language-model", "classify", "tag"))):
        assert set(views_of(Run(folder))) >= SELF_ATTENTION, folder.name


def test_others_have_those_that_fit(studio_runs, tiny_runs):
    assert views_of(Run(tiny_runs / "vectors")) == ["map"]
    assert views_of(Run(tiny_runs / "elmo")) == ["gates", "occurrences"]
    assert "words" in views_of(Run(tiny_runs / "masked-language-model"))
    assert "generate" in views_of(Run(tiny_runs / "language-model"))


def test_a_run_without_a_checkpoint_has_no_views(tmp_path):
    assert views_of(Run(tmp_path)) == []
