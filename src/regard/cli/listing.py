"""The verbs by panel of `regard --help`: where each is, and its summary; none is imported until it is called."""

PANELS: dict[str, dict[str, tuple[str, str]]] = {
    "Train": {
        "quickstart": ("verbs.quickstart", "Train a translator on the embedded miniature world and try it out."),
        "train": ("verbs.train", "Train a model; Ctrl-C saves a checkpoint, --resume continues the run."),
        "plan": ("verbs.plan", "Plan a run on many devices: memory, traffic and time of each strategy."),
        "doctor": ("verbs.doctor", "Check the data and try out the training before a run."),
        "race": ("verbs.studies", "Race models on the same data and budget; Ctrl-C saves, the same command resumes."),
        "tune": (
            "verbs.studies",
            "Search better values for the most doubtful settings of a plan, and write a recipe.",
        ),
        "transfer": ("verbs.studies", "Compare pretrained models on the same labeled texts; Ctrl-C saves."),
        "verify-resume": ("tools.runs", "Train with and without an interruption and compare the results."),
    },
    "Predict": {
        "predict": (
            "predict.operations",
            "Use any model by its task; `regard predict RUN --help` shows its options.",
        ),
        "translate": (
            "tasks.translate",
            "Translate text: an output line for each input line, blank lines kept.",
        ),
        "generate": ("tasks.language_model", "Generate text from prompts: a prompt that is alone is streamed."),
        "classify": ("tasks.classify", "Classify texts: label and probability per line, in order, blank lines kept."),
        "regress": ("tasks.regress", "Predict a number for each text or text pair: one per line, blank lines kept."),
        "tag": ("tasks.tag", "Tag words: one tab-separated word and tag per line, a blank line after each text."),
        "answer": ("tasks.answer", "Answer questions from a context: probability and answer per line, in order."),
        "choose": ("tasks.choose", "Choose a continuation: index from 0, probability and text of the best choice."),
        "fill": ("tasks.masked_lm", "Predict the token of every [MASK]: number, probability, token, filled text."),
        "embed": ("tasks.masked_lm", "Encode texts as vectors: one line of tab-separated numbers per text."),
        "similar": ("predict.similar", "Compare texts by the cosine similarity of their vectors."),
        "vectors": ("verbs.vectors:app", "Query word vectors: neighbors, similarity, analogies, outliers, maps."),
    },
    "Serve": {
        "studio": ("verbs.serve", "Show runs and models in the browser: training, attention, decoding, words."),
        "serve": ("verbs.serve", "Serve models by the APIs of OpenAI, LibreTranslate and Hugging Face."),
    },
    "Score and inspect": {
        "evaluate": ("verbs.evaluate", "Score a model on its own test sets or on other data: BLEU, perplexity, F1."),
        "score": ("predict.score", "Score translations or texts: log probability and perplexity of each."),
        "bleu": ("tools.bleu", "Score hypotheses against references: sacrebleu's corpus BLEU, BLEU-1 to BLEU-4."),
        "inspect": ("predict.inspect", "Show attention weights: the tokens with the largest weights for each token."),
        "features": ("predict.features", "Compare layers of a frozen encoder as features of a tagger."),
        "runs": ("tools.runs:app", "List runs (regard runs [FOLDER]), or delete one."),
        "card": ("tools.runs", "Rewrite a run's card (README.md) and curves.png from the files in its folder."),
    },
    "Models, data and settings": {
        "average": ("tools.runs", "Average the weights of checkpoints: those of a run, or of several."),
        "export": ("tools.export", "Export a run's best model to another library's format."),
        "convert": ("tools.export", "Convert a run's best model, or word vectors, to another library's format."),
        "import": ("tools.export:import_", "Turn a Hugging Face model into a checkpoint of regard."),
        "tokenizer": ("tools.tokenizer:app", "Train a tokenizer, or show how it splits a text."),
        "data": ("tools.data:app", "Print embedded data sets."),
        "tasks": ("tools.lists", "List all tasks, built-in and installed: data, verbs and metrics of each."),
        "recipes": ("tools.lists", "List the recipes that can be trained by name."),
        "presets": ("tools.lists", "List the model presets (model.preset) with their exact numbers of parameters."),
        "config": ("tools.config:app", "Show resolved settings, or explain one."),
    },
}
"""A module below `regard.cli`, or a task, and the attribute of the verb, by default its name."""
