"""How a `sentence-transformers` folder makes vectors of sentences, where a BERT folder is one."""

from pathlib import Path
from typing import Any

from regard.checkpoint.atomic import write_json
from regard.config.records import read_value
from regard.errors import CheckpointError
from regard.interop.huggingface.folder import read_object
from regard.interop.huggingface.schemas import Module, Pooling, SentenceLength

MODULES, LENGTH = "modules.json", "sentence_bert_config.json"
POOLING = {
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
}
"""Their ways from the tokens of a sentence to one vector, and ours."""
KNOWN = ("Transformer", "Pooling", "Normalize")


def sentence_facts(folder: Path) -> dict[str, Any]:
    """Return the defaults of vectors of sentences that a folder brings along, under `embed`, if it does.

    A way that is not had here is named all the same: whoever wants vectors must then choose another one.
    """
    if not (folder / MODULES).exists():
        return {}
    modules: list[Module] = read_value(folder / MODULES, list[Module], CheckpointError, "a list of modules")
    kinds = [module.type.rpartition(".")[2] for module in modules]
    odd = [kind for kind in kinds if kind not in KNOWN]
    if odd or "Pooling" not in kinds:
        found: dict[str, Any] = {"pooling": odd[0].lower() if odd else "none"}
    else:
        place = folder / modules[kinds.index("Pooling")].path / "config.json"
        found = {"pooling": _pooling(read_object(place, Pooling))}
    found["is_normalized"] = "Normalize" in kinds
    length = read_object(folder / LENGTH, SentenceLength).get("max_seq_length")
    return {"embed": found | ({"max_length": length} if length else {})}


def write_sentence_modules(folder: Path, width: int, embed: dict[str, Any]) -> None:
    """Write beside a BERT how it makes vectors of sentences, so that `sentence-transformers` makes the same."""
    kinds = KNOWN if embed["is_normalized"] else KNOWN[:2]
    modules = [
        {
            "idx": number,
            "name": str(number),
            "path": f"{number}_{kind}" if number else "",
            "type": f"sentence_transformers.models.{kind}",
        }
        for number, kind in enumerate(kinds)
    ]
    pooling = {name: way == embed["pooling"] for name, way in POOLING.items()}
    write_json(folder / MODULES, modules)
    for module in modules[1:]:
        (folder / str(module["path"])).mkdir()
    write_json(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": width} | pooling)
    write_json(folder / LENGTH, {"max_seq_length": embed["max_length"], "do_lower_case": False})


def _pooling(config: dict[str, Any]) -> str:
    """Return the way a config names, today in one word, formerly by the only switch that is on."""
    if isinstance(config.get("pooling_mode"), str):
        return str(config["pooling_mode"])
    switched = [name for name, is_on in config.items() if name.startswith("pooling_mode_") and is_on is True]
    return POOLING.get(switched[0], switched[0]) if len(switched) == 1 else "+".join(switched) or "none"
