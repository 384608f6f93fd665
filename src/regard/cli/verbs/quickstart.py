"""`regard quickstart`: training, evaluation and translation on the embedded data."""

from regard.cli.options import NOTHING, Given, Quiet, flags_of, options
from regard.cli.run_options import MACHINE
from regard.runs.settings import QuickstartSettings

SENTENCES = (
    "Der kleine Hund schläft im Garten.",
    "Die Lehrerin, die den Schüler sieht, macht das Fenster auf.",
    "Gestern hat Anna ihrer Schwester kein Buch gegeben.",
)


@options(*flags_of(QuickstartSettings, shows_defaults=True), *MACHINE)
def quickstart(given: Given = NOTHING, quiet: Quiet = False) -> None:
    """Train a translator on the embedded miniature world and try it out."""
    from regard.cli.console import print_line, progress
    from regard.cli.metrics import print_run, print_scores
    from regard.runs.run import Run
    from regard.runs.train import train
    from regard.tasks.contract import find_task
    from regard.tasks.load import load

    chosen = given.settings(QuickstartSettings)
    out, run = chosen.out, Run(chosen.out)
    if run.exists and not chosen.fresh:
        record = run.record
        if not record.scores:
            print_line(f"{out}: this run is unfinished. Resume it: regard train --resume {out}")
            print_line("Train again: make quickstart FRESH=1 (the same as regard quickstart --fresh).")
            return
        print_line(f"{out}: already trained, {record.parameters:,} parameters, {record.steps:,} steps.")
        print_line("Train again: make quickstart FRESH=1 (the same as regard quickstart --fresh).")
        print_scores(find_task(record.task), record.scores)
    else:
        overrides = {f"machine.{name}": value for name, value in given.values_of(["device", "threads"]).items()}
        done = train("translate-miniature", overrides, out=out, overwrite=chosen.fresh, progress=progress(quiet))
        print_run(done, False)
    print_line()
    translator = load(out, given["device"] or "auto")
    for translation in translator(list(SENTENCES)):
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
