"""Batch parity: how often a sentence is translated differently in a batch than alone, and how far its score moves.

python benchmarks/batch_parity.py --run runs/mine --texts test.de --device cuda
"""

import argparse
import json
from pathlib import Path

import torch

import regard
from regard.data.sources.lines import read_lines


def compare(run: Path, texts: list[str], device: str, precision: str, beam_size: int) -> dict[str, float | int | str]:
    """Translate all texts together and each alone."""
    translator = regard.load(run, device, precision=precision)
    together = translator(texts, beam_size=beam_size)
    alone = [translator(text, beam_size=beam_size) for text in texts]
    pairs = list(zip(together, alone, strict=True))
    differing = [(one, other) for one, other in pairs if one.text != other.text]
    moved = [abs(one.score - other.score) for one, other in pairs if one.text == other.text]
    # A tie: what won in the one case was there in the other, and as good to 1e-4.
    ties = [abs(one.score - other.score) < 1e-4 for one, other in differing]
    return {
        "precision": precision,
        "sentences": len(texts),
        "different_texts": len(differing),
        "mismatch_rate": round(len(differing) / len(texts), 5),
        "of_these_ties_to_1e-4": sum(ties),
        "largest_score_difference_of_equal_texts": max(moved, default=0.0),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", type=Path, required=True)
    parser.add_argument("--texts", type=Path, required=True)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--beam-size", type=int, default=5)
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--precisions", nargs="+", default=["fp32", "bf16"])
    words = parser.parse_args()
    texts = [line for line in read_lines(words.texts) if line.strip()][: words.sentences]
    rows = [compare(words.run, texts, words.device, precision, words.beam_size) for precision in words.precisions]
    machine = torch.cuda.get_device_name() if words.device.startswith("cuda") else "CPU"
    print(
        json.dumps(
            {"machine": machine, "torch": torch.__version__, "beam_size": words.beam_size, "rows": rows}, indent=2
        )
    )


if __name__ == "__main__":
    main()
