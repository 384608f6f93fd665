"""The settings of a recipe explained: value, source and meaning of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from json import dumps

from regard import registry
from regard.config.overrides import nested, parse_overrides
from regard.config.resolve import suggestion
from regard.config.schema import FieldSpec, find_field
from regard.config.settings import Settings, flatten
from regard.errors import ConfigError
from regard.models.base.settings import ModelSettings
from regard.models.families import DEFAULT_FAMILY, family
from regard.runs.planning.recipes import find_recipe, resolve_run, without_data
from regard.tasks.contract import AnyTask, find_task
from regard.tasks.settings import RunSettings
from regard.training.settings import TrainSettings
from regard.training.word2vec.settings import RATES, VectorTrainSettings


@dataclass(frozen=True)
class ExplainedSetting:
    """A setting of a run."""

    name: str
    value: object
    """The value a run would have."""
    source: str
    """The layer that set it."""
    doc: str
    field: FieldSpec | None
    """Its declaration; None for an entry of a table with names chosen by the user."""

    @property
    def facts(self) -> dict[str, object]:
        """Its type, default, value and source."""
        default = self.field.default if self.field and not self.field.is_required else None
        return {
            "type": self.field.type_words if self.field else "",
            "default": default.model_dump(mode="json") if isinstance(default, Settings) else default,
            "value": self.value,
            "source": self.source,
        }

    @property
    def shown(self) -> str:
        """Its value as it is written."""
        return dumps(self.value, ensure_ascii=False)

    @property
    def words(self) -> dict[str, str]:
        """Its facts as they are written."""
        words = {name: dumps(value, ensure_ascii=False, default=str) for name, value in self.facts.items()}
        is_required = self.field is not None and self.field.is_required
        default = {"default": "none, it is required"} if is_required else {}
        return words | {"type": self.field.type_words if self.field else "", "source": self.source} | default

    def to_dict(self) -> dict[str, object]:
        """Return its value, source and meaning."""
        return {"value": self.value, "source": self.source, "meaning": self.doc}


def explain_recipe(
    recipe: str, words: Sequence[str] = (), overrides: Mapping[str, object] | None = None
) -> list[ExplainedSetting]:
    """Return every setting of a recipe with its overrides applied: key=value words, or values by dotted name.

    Missing training data is a placeholder.
    """
    changes = nested(parse_overrides(words) | dict(overrides or {}))
    resolved = resolve_run(*without_data(find_recipe(recipe), changes))
    derived = _derived(resolved.settings)
    rows = []
    for key, value in flatten(resolved.settings.model_dump(mode="json")):
        shown, source_name = derived.get(key, (value, resolved.source(key)))
        field = find_field(type(resolved.settings), key)
        rows.append(ExplainedSetting(key, shown, source_name, field.doc if field else "", field))
    return rows


def _derived(settings: RunSettings[ModelSettings]) -> Mapping[str, tuple[object, str]]:
    """Return the values, with their sources, of settings that follow from others where they are not set."""
    train = settings.train
    if train.learning_rate is not None:
        return {}
    if isinstance(train, TrainSettings):
        return {"train.learning_rate": (train.peak_rate, f"derived from train.schedule {train.schedule}")}
    algorithm = getattr(settings.model, "algorithm", None)
    if isinstance(train, VectorTrainSettings) and algorithm in RATES:
        return {"train.learning_rate": (RATES[algorithm], f"derived from model.algorithm {algorithm}")}
    return {}


def explain_key(key: str, recipe: str | None = None, words: Sequence[str] = ()) -> tuple[ExplainedSetting, list[str]]:
    """Return a setting, and the names of the tasks that have it; without a recipe, as the first of these has it."""
    tasks = [each.name for each in registry.TASKS if find_field(_schema(each), key) is not None]
    if recipe is None and not tasks:
        raise ConfigError(f"{key}: there is no such setting; {suggestion(key, _schema(find_task(_nearest(key))))}")
    rows = {each.name: each for each in explain_recipe(recipe or tasks[0], words)}
    if key in rows:
        return rows[key], tasks
    field = find_field(_schema(find_task(str(rows["task"].value))), key)
    if field is None:
        names = ", ".join(name for name in rows if name.rpartition(".")[0] == key.rpartition(".")[0])
        raise ConfigError(
            f"{key}: the recipe {recipe} has no such setting; "
            + (f"choose from {names}." if names else "see regard config show.")
        )
    inside = {name: each.value for name, each in rows.items() if name.startswith(f"{key}.")}
    default = field.default if not field.is_required else None
    return ExplainedSetting(key, inside or default, "default", field.doc, field), tasks


def _nearest(key: str) -> str:
    """Return the first task whose settings have the group of a key, for a suggestion."""
    group = key.rpartition(".")[0]
    has_group = (each.name for each in registry.TASKS if group and find_field(_schema(each), group) is not None)
    return next(has_group, registry.TASKS.names()[0])


def _schema(task: AnyTask) -> type[RunSettings[ModelSettings]]:
    """Return the settings of a task's runs with a model of its default family."""
    schema: type[RunSettings[ModelSettings]] = task.settings(family(DEFAULT_FAMILY[task.files.kinds[0]]).settings)
    return schema
