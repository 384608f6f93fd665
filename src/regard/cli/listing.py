"""The verbs by panel of `regard --help`: where each is, and its summary; none is imported until it is called."""

PANELS: dict[str, dict[str, tuple[str, str]]] = {
    "Train": {
        "quickstart": (
            "regard.cli.verbs.quickstart:quickstart",
            "Train a German-English translator on the embedded miniature world, evaluate it and translate examples.",
        ),
        "train": (
            "regard.cli.verbs.train:train",
            "Train a model; Ctrl-C saves a checkpoint, --resume continues the run.",
        ),
        "doctor": (
            "regard.cli.verbs.doctor:doctor",
            "Check the data and try out the training before a run; exit code 1 if there is a problem.",
        ),
        "race": (
            "regard.cli.verbs.race:race",
            "Race models on the same data, tokenizer, seed and budget; Ctrl-C saves, and the same command resumes.",
        ),
        "transfer": (
            "regard.cli.verbs.transfer:transfer",
            "Compare pretrained models on the same labeled texts; Ctrl-C saves, and the same command resumes.",
        ),
        "verify-resume": (
            "regard.cli.tools.verify_resume:verify_resume",
            "Train with and without an interruption and compare the results; on a CPU any difference is exit code 1.",
        ),
    },
    "Predict": {
        "predict": (
            "regard.cli.predict.dispatch:predict",
            "Use any model: translate, generate, classify, ..., by its task; `regard predict RUN --help` shows its "
            "options.",
        ),
        "translate": (
            "regard.cli.predict.translate:translate",
            "Translate text: one output line per input line, in order, blank lines kept.",
        ),
        "generate": (
            "regard.cli.predict.generate:generate",
            "Generate text from prompts: one prompt is streamed, the outputs of several are separated by blank "
            "lines.",
        ),
        "classify": (
            "regard.tasks.classify.task:TASK",
            "Classify texts: label and probability per line, in order, blank lines kept; CSV for tables.",
        ),
        "regress": (
            "regard.tasks.regress.task:TASK",
            "Predict a number for each text or text pair: one per line, in order, blank lines kept; CSV for tables.",
        ),
        "tag": (
            "regard.tasks.tag.task:TASK",
            "Tag words: one tab-separated word and tag per line, a blank line after each text; CSV for tables.",
        ),
        "answer": (
            "regard.tasks.answer.task:TASK",
            "Answer questions from a context: probability and answer per line, in order; CSV for tables.",
        ),
        "choose": (
            "regard.tasks.choose.task:TASK",
            "Choose a continuation of a context: index from 0, probability and text of the best choice; CSV for "
            "tables.",
        ),
        "fill": (
            "regard.tasks.masked_lm.task:TASK",
            "Predict the token of every [MASK]: mask number, probability, token, and the filled text, one per line.",
        ),
        "embed": (
            "regard.tasks.masked_lm.task:TASK",
            "Encode texts as vectors: one line of tab-separated numbers per text, in order.",
        ),
        "similar": (
            "regard.cli.predict.similar:similar",
            "Compare texts by the cosine similarity of their vectors: 1 for the same direction, 0 for orthogonal "
            "vectors.",
        ),
        "vectors": (
            "regard.cli.verbs.vectors:app",
            "Query word vectors (neighbors, similarity, analogies, outliers), plot them.",
        ),
    },
    "Serve": {
        "serve": (
            "regard.cli.verbs.serve:serve",
            "Serve models by the APIs of OpenAI, LibreTranslate and Hugging Face; Ctrl-C stops after open requests.",
        ),
    },
    "Score and inspect": {
        "evaluate": (
            "regard.cli.verbs.evaluate:evaluate",
            "Score a model on its own test sets or on other data: BLEU, perplexity, accuracy, F1 or correlations.",
        ),
        "score": (
            "regard.cli.predict.score:score",
            "Score translations or texts: log probability and perplexity of each, and of each token with --json.",
        ),
        "bleu": (
            "regard.cli.tools.bleu:bleu",
            "Score hypotheses against references: sacrebleu's corpus BLEU, and BLEU-1 to BLEU-4.",
        ),
        "inspect": (
            "regard.cli.predict.inspect:inspect",
            "Show attention weights: for each token, the tokens with the largest weights.",
        ),
        "features": (
            "regard.cli.predict.features:features",
            "Compare layers of a frozen encoder as features (Devlin et al., 2019, §5.3): each trains a small tagger.",
        ),
        "runs": ("regard.cli.tools.runs:app", "List runs (regard runs [FOLDER]), or delete one."),
        "card": (
            "regard.cli.tools.card:card",
            "Rewrite a run's card (README.md) and curves.png from the files in its folder.",
        ),
    },
    "Models, data and settings": {
        "average": (
            "regard.cli.tools.average:average",
            "Average the weights of checkpoints; train.keep_last and train.keep_best set how many a run keeps.",
        ),
        "export": ("regard.cli.tools.export:export", "Export a run's best model to another library's format."),
        "convert": (
            "regard.cli.tools.convert:convert",
            "Convert a run's best model, or word vectors, to another library's format, next to the run.",
        ),
        "import": ("regard.cli.tools.import_:import_", "Turn a Hugging Face model into a checkpoint of regard."),
        "tokenizer": ("regard.cli.tools.tokenizer:app", "Train a tokenizer, or show how it splits a text."),
        "data": ("regard.cli.tools.data:app", "Print embedded data sets."),
        "tasks": (
            "regard.cli.tools.tasks:tasks",
            "List all tasks, built-in and installed: what each trains, the data it needs, its verbs and metrics.",
        ),
        "recipes": ("regard.cli.tools.recipes:recipes", "List the recipes that can be trained by name."),
        "presets": (
            "regard.cli.tools.presets:presets",
            "List the model presets (model.preset) with their exact numbers of parameters.",
        ),
        "config": ("regard.cli.tools.config:app", "Show resolved settings, or explain one."),
    },
}
