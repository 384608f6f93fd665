import pytest

from regard.cancellation import Cancelled, cancellable
from regard.errors import ConfigError
from regard.inspection.interventions import Edit, edited
from regard.runs.store.folder import read_record
from regard.studio.views.models import body_of
from regard.studio.views.ranking import RankingRequest, heads_of, rank_heads
from regard.tasks.contract import find_task
from regard.tasks.load import load

WITH_HEADS = [
    "translate",
    "language-model",
    "masked-language-model",
    "classify",
    "regress",
    "tag",
    "answer",
    "choose",
]


@pytest.mark.parametrize("name", WITH_HEADS)
def test_heads_of_every_kind_of_model_are_ranked_by_the_loss_without_them(pipeline_of, name):
    pipeline = pipeline_of(name)
    view = rank_heads(pipeline, RankingRequest(model="m", examples=4))
    effects = [each.effect for each in view.heads]
    assert sorted((each.kind, each.layer, each.head) for each in view.heads) == sorted(heads_of(body_of(pipeline)))
    assert effects == sorted(effects, reverse=True) and any(effects)
    assert 1 <= view.examples <= 4 and view.loss > 0 and view.unit == find_task(name).loss_curve.unit


def test_the_effect_is_the_loss_of_the_edited_model_on_the_same_sample(translator):
    view = rank_heads(translator, RankingRequest(model="m", examples=4))
    sample = find_task("translate").sample_loss(translator, read_record(translator.origin), 4)
    first = view.heads[0]
    with edited(translator.model, [Edit(first.kind, first.layer, first.head)]):
        without = sample.compute()
    assert sample.compute() == pytest.approx(view.loss) and without - view.loss == pytest.approx(first.effect)


def test_a_ranking_that_nobody_waits_for_ends_before_the_next_head(translator):
    asked = iter([False, False, True])
    with pytest.raises(Cancelled), cancellable(lambda: next(asked)):
        rank_heads(translator, RankingRequest(model="m", examples=1))
    assert next(asked, None) is None


def test_a_mask_predict_translator_has_heads_too(masked_run):
    view = rank_heads(load(masked_run.path), RankingRequest(model="m", examples=2))
    assert {each.kind for each in view.heads} == {"encoder", "decoder", "cross"}


@pytest.mark.parametrize(
    ("name", "count", "words"),
    [
        ("classify", 0, "examples: 0 is out of range; choose 1 to 64"),
        ("elmo", 4, "this model has no attention heads to rank"),
        ("vectors", 4, "this is a table of word vectors"),
    ],
)
def test_what_cannot_be_ranked_is_refused(pipeline_of, name, count, words):
    with pytest.raises(ConfigError, match=words):
        rank_heads(pipeline_of(name), RankingRequest(model="m", examples=count))
