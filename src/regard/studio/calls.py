"""The calls of the studio's pages: each a request, a response and a function; routes and types are made of them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, cast

from regard.studio.messages import StudioMessage
from regard.studio.views import (
    attention,
    concepts,
    gates,
    generation,
    heads,
    interventions,
    merges,
    ranking,
    reports,
    runs,
    steps,
    training,
    tree,
    words,
)

Scope = Literal["model", "folder", "none"]
"""model: the function takes the pipeline; folder: the settings; none: the request alone."""
Function = Callable[..., StudioMessage]


@dataclass(frozen=True)
class ViewCall:
    """One call."""

    name: str
    scope: Scope
    function: Function

    @property
    def request(self) -> type[StudioMessage]:
        """The class of its request."""
        return cast(type[StudioMessage], self.function.__annotations__["request"])

    @property
    def response(self) -> type[StudioMessage]:
        """The class of its response."""
        return cast(type[StudioMessage], self.function.__annotations__["return"])


MODEL: dict[str, Function] = {
    "attention": attention.show_attention,
    "gates": gates.show_gates,
    "tree": tree.show_tree,
    "alternatives": tree.show_alternatives,
    "steps": steps.show_steps,
    "intervene": interventions.show_intervention,
    "rank": ranking.rank_heads,
    "lens": generation.show_lens,
    "fields": heads.show_fields,
    "fill": heads.show_fill,
    "next-sentence": heads.show_next_sentence,
    "predict": heads.show_prediction,
    "map": words.show_map,
    "neighbors": words.show_neighbors,
    "analogy": words.show_analogy,
    "occurrences": words.show_occurrences,
    "merges": merges.show_merges,
    "samples": runs.show_samples,
}
FOLDER: dict[str, Function] = {
    "runs": runs.show_runs,
    "run": runs.show_run,
    "recipes": training.show_recipes,
    "form": training.show_form,
    "start": training.start_run,
    "stop": training.stop_run,
    "resume": training.resume_run,
    "log": training.show_log,
    "studies": reports.show_studies,
    "race": reports.show_race,
    "transfer": reports.show_transfer,
}
NONE: dict[str, Function] = {
    "scaled-example": steps.show_scaled_example,
    "positions": concepts.show_positions,
    "schedules": concepts.show_schedules,
    "smoothing": concepts.show_smoothing,
    "bleu": concepts.show_bleu,
    "masks": concepts.show_masks,
    "cell": concepts.show_cell,
}
CALLS = [
    *(ViewCall(name, "model", function) for name, function in MODEL.items()),
    *(ViewCall(name, "folder", function) for name, function in FOLDER.items()),
    *(ViewCall(name, "none", function) for name, function in NONE.items()),
]
STREAM = "generate"
"""The call whose answer arrives in lines: requests of GenerationRequest, a GenerationEvent a line."""
