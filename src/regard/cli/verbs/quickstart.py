"""`regard quickstart`: training, evaluation and translation on the embedded data."""

from regard.cli.options import QUIET, Given, options
from regard.cli.run_options import MACHINE, machine_overrides
from regard.runs.settings import QuickstartSettings

AGAIN = "Train again: make quickstart FRESH=1 (the same as regard quickstart --fresh)."
SENTENCES = (
    "Der kleine Hund schläft im Garten.",
    "Die Lehrerin, die den Schüler sieht, macht das Fenster auf.",
    "Gestern hat Anna ihrer Schwester kein Buch gegeben.",
)


@options(QUIET, QuickstartSettings, *MACHINE)
def quickstart(given: Given) -> None:
    """Train a translator on the embedded miniature world and try it out."""
    from regard.cli.console import print_line
    from regard.cli.metrics import print_run
    from regard.runs.run import Run
    from regard.runs.train import train
    from regard.tasks.contract import find_task
    from regard.tasks.load import load

    chosen = given.settings(QuickstartSettings)
    out, run = chosen.out, Run(chosen.out)
    if run.exists and not chosen.fresh:
        record = run.record
        if not record.scores:
            print_line(f"{out}: this run is unfinished. Resume it: regard train --resume {out}\n{AGAIN}")
            return
        line = f"{out}: already trained, {record.parameters:,} parameters, {record.steps:,} steps.\n{AGAIN}"
        given.show(None, line, *find_task(record.task).score_parts(record.scores))
    else:
        machine, reporter = machine_overrides(given), given.progress
        print_run(train("translate-miniature", machine, out=out, overwrite=chosen.fresh, progress=reporter), given)
    print_line()
    for translation in load(out, given.device)(list(SENTENCES)):
        print_line(f"{translation.source}\n  → {translation.text}")
    print_line(f"""
Next steps
  make studio                                                            runs and models in the browser
  regard translate {out} "Der Hund, den die Frau füttert, ist müde."    translate your own sentence
  regard evaluate {out} --beam-size 1                                    greedy decoding instead of beam search
  regard data miniature --count 10 --split unseen-cases                  a test set of compositional generalization
  regard train translate --source a.de --target a.en --out runs/mine     train on your own text
  regard config show translate-miniature                                 all settings and their sources
  regard serve de-en={out}                                 the translator by HTTP: http://127.0.0.1:8000/docs""")
