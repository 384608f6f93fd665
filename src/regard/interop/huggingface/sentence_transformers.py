"""`sentence-transformers` modules of a BERT folder: pooling, normalization and maximum length."""

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
"""Switches of `sentence-transformers`, and regard's poolings."""
KNOWN = ("Transformer", "Pooling", "Normalize")


def sentence_facts(folder: Path) -> dict[str, Any]:
    """Return the embedding defaults of a folder under `embed`; empty where it has no modules.json.

    An unsupported pooling is named all the same: an embedding then needs another one from the user.
    """
    if not (folder / MODULES).exists():
        return {}
    modules: list[Module] = read_value(folder / MODULES, list[Module], CheckpointError, "a list of modules")
    kinds = [module.type.rpartition(".")[2] for module in modules]
    unsupported = [kind for kind in kinds if kind not in KNOWN]
    if unsupported or "Pooling" not in kinds:
        embed: dict[str, Any] = {"pooling": unsupported[0].lower() if unsupported else "none"}
    else:
        path = folder / modules[kinds.index("Pooling")].path / "config.json"
        embed = {"pooling": _pooling(read_object(path, Pooling))}
    embed["is_normalized"] = "Normalize" in kinds
    length = read_object(folder / LENGTH, SentenceLength).get("max_seq_length")
    return {"embed": embed | ({"max_length": length} if length else {})}


def write_sentence_modules(folder: Path, width: int, embed: dict[str, Any]) -> None:
    """Write the modules with which `sentence-transformers` computes the same sentence embeddings."""
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
    switches = {switch: pooling == embed["pooling"] for switch, pooling in POOLING.items()}
    write_json(folder / MODULES, modules)
    for module in modules[1:]:
        (folder / str(module["path"])).mkdir()
    write_json(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": width} | switches)
    write_json(folder / LENGTH, {"max_seq_length": embed["max_length"], "do_lower_case": False})


def _pooling(config: dict[str, Any]) -> str:
    """Return the pooling of a config: `pooling_mode`, or the only switch that is on in older versions."""
    if isinstance(config.get("pooling_mode"), str):
        return str(config["pooling_mode"])
    switched = [name for name, is_on in config.items() if name.startswith("pooling_mode_") and is_on is True]
    return POOLING.get(switched[0], switched[0]) if len(switched) == 1 else "+".join(switched) or "none"
