// Made of the server's messages by scripts/studio_types.py; change those.

/** An input, and the output ids before the token in question. */
export interface AlternativesRequest {
  model: string;
  text: string;
  prefix: number[];
  top?: number;
}

/** The most probable tokens at one position, best first. */
export interface AlternativesView {
  candidates: TokenCandidate[];
}

/** a is to b as c is to ...? */
export interface AnalogyRequest {
  model: string;
  a: string;
  b: string;
  c: string;
  top?: number;
}

/** The words nearest to b - a + c, and the points of a, b, c and the best answer in a plane of their own. */
export interface AnalogyView {
  answers: NearWord[];
  words: string[];
  points: Floats;
}

/** A kind of attention that a model has. */
export interface AttentionKind {
  name: string;
  layers: number;
  heads: number;
}

/** An input, and the target that a translator reads (default: its own output). */
export interface AttentionRequest {
  model: string;
  text?: string;
  fields?: Record<string, string>;
  choices?: string[];
  target?: string | null;
  kind?: string | null;
}

/** One intermediate value: a vector of the word, or one number for each key. */
export interface AttentionStage {
  name: string;
  formula: string;
  shape: string;
  values: (number | null)[];
  of: string;
  source: string;
  matrix: Floats | null;
}

/** The weights (layers, heads, queries, keys) of one kind of attention. */
export interface AttentionView {
  kinds: AttentionKind[];
  kind: string;
  queries: string[];
  keys: string[];
  weights: Floats;
  output: string | null;
  score: number | null;
  fields: ReceptiveField[];
}

/** The n-grams of one order. */
export interface BleuOrder {
  n: number;
  precision: number;
  clipped: number;
  total: number;
  matches: NgramMatch[];
}

/** A hypothesis and a reference, split at spaces. */
export interface BleuRequest {
  hypothesis: string;
  reference: string;
}

/** BLEU with all that it is made of. */
export interface BleuView {
  orders: BleuOrder[];
  hypothesis_length: number;
  reference_length: number;
  brevity_penalty: number;
  scores: number[];
}

/** Gates set by hand: of an LSTM i, f, o and C~ on the state C; of a GRU z and n on the state h. */
export interface CellRequest {
  cell?: "lstm" | "gru";
  i?: number;
  f?: number;
  o?: number;
  z?: number;
  candidate?: number;
  state?: number;
  steps?: number;
}

/** The state over steps with these gates held. */
export interface CellView {
  cell: number[];
  hidden: number[];
}

/** One change (see `inspection.interventions.Edit`). */
export interface EditMessage {
  kind: string;
  layer: number;
  head?: number | null;
  query?: number | null;
  key?: number | null;
  weight?: number | null;
}

/** The output: greedy search, filled masks, or the prediction of a head. */
export interface EditedOutput {
  text: string;
  tokens: string[];
  probabilities: number[];
}

/** A model. */
export interface FieldsRequest {
  model: string;
}

/** The fields of a row that a model with a head takes, and whether it fills masks. */
export interface FieldsView {
  fields: string[];
  fills: boolean;
  has_next_sentence: boolean;
}

/** A text with masks, and the number of candidates of each. */
export interface FillRequest {
  model: string;
  text: string;
  top?: number;
}

/** The candidates of each mask, best first. */
export interface FillView {
  masks: TokenCandidate[][];
  filled: string;
}

/** An array of 32-bit numbers, little-endian, in base64: ten times quicker to read than JSON. */
export interface Floats {
  shape: number[];
  base64: string;
}

/** A setting: its value for this run, the reason for it, its meaning, type and choices. */
export interface FormField {
  name: string;
  value: string;
  source: string;
  doc: string;
  type: string;
  choices: string[];
  is_required: boolean;
}

/** A recipe, and settings by dotted name as text. */
export interface FormRequest {
  recipe: string;
  values?: Record<string, string>;
}

/** All settings of a run, planned values with their reasons. */
export interface FormView {
  fields: FormField[];
  command: string;
}

/** A gate or state of a layer over time. */
export interface Gate {
  name: string;
  values: Floats;
  means: number[];
}

/** A recurrent layer over the tokens of one side. */
export interface GatesLayer {
  path: string;
  cell: string;
  is_backward: boolean;
  tokens: string[];
  gates: Gate[];
}

/** An input, and the target that a translator reads (default: its own output). */
export interface GatesRequest {
  model: string;
  text?: string;
  fields?: Record<string, string>;
  choices?: string[];
  target?: string | null;
}

/** The recurrent layers of a model; empty: it has none. */
export interface GatesView {
  layers: GatesLayer[];
  output: string | null;
}

/** One generated token. */
export interface GenerationEvent {
  id: number;
  token: string;
  text: string;
  probability: number;
  candidates: TokenCandidate[];
  stages: StageValue[];
  is_last: boolean;
}

/** A prompt (or source), and options of the call by name. */
export interface GenerationRequest {
  model: string;
  text: string;
  options?: Record<string, string | number | boolean | null>;
}

/** A head, and how much higher the loss is without it. */
export interface HeadEffect {
  kind: string;
  layer: number;
  head: number;
  effect: number;
}

/** An input, edits in the order in which they were made, and the attention to show. */
export interface InterventionRequest {
  model: string;
  text?: string;
  fields?: Record<string, string>;
  choices?: string[];
  max_new_tokens?: number;
  edits?: EditMessage[];
  kind?: string;
}

/** The output without and with the edits, the edited attention, and Python code that does the same. */
export interface InterventionView {
  before: EditedOutput;
  after: EditedOutput;
  kinds: string[];
  kind: string;
  queries: string[];
  keys: string[];
  weights: Floats;
  code: string;
}

/** A label, choice, answer or tag with its probability, or a number. */
export interface Labeled {
  label: string;
  value: number;
}

/** Predictions of one block at every position: the best tokens and their probabilities, best first. */
export interface LensLayer {
  tokens: string[][];
  probabilities: number[][];
}

/** A text (and a second one), and the number of candidates a position. */
export interface LensRequest {
  model: string;
  text: string;
  second?: string | null;
  top?: number;
}

/** A line of a chart. */
export interface Line {
  name: string;
  steps: number[];
  values: number[];
}

/** The end of a training process' output. */
export interface LogView {
  text: string;
}

/** The logit lens of a text. */
export interface LogitLensView {
  tokens: string[];
  layers: LensLayer[];
}

/** A number of words, the most frequent first, and how their vectors become points. */
export interface MapRequest {
  model: string;
  method?: "pca" | "tsne";
  count?: number;
}

/** Words and their points (N, 2), between 0 and 1. */
export interface MapView {
  words: string[];
  points: Floats;
  total: number;
  width: number;
}

/** The mask (T, S) of one sentence: 1 where a query attends. */
export interface MaskOf {
  name: string;
  values: Floats;
}

/** A length candidate after an iteration of mask-predict. */
export interface MaskPass {
  iteration: number;
  candidate: number;
  tokens: string[];
  probabilities: number[];
  masked: boolean[];
}

/** Lengths of the sentences of a batch. */
export interface MasksRequest {
  lengths?: number[];
}

/** The causal mask, the padding masks, and both together. */
export interface MasksView {
  masks: MaskOf[];
}

/** A chart of measurements, a line for each member that has them. */
export interface MeasuredPanel {
  title: string;
  about: string;
  x: string;
  y: string;
  ranges: string[];
  is_logarithmic: boolean;
  lines: Line[];
}

/** One merge: the pair, its rank among those that were learned, and the tokens after it. */
export interface MergeStep {
  left: string;
  right: string;
  rank: number;
  tokens: string[];
}

/** The characters of a word, and its merges. */
export interface MergedWord {
  characters: string[];
  steps: MergeStep[];
}

/** A word, or a few. */
export interface MergesRequest {
  model: string;
  word: string;
}

/** The words, and how many tokens the vocabulary has. */
export interface MergesView {
  words: MergedWord[];
  vocabulary: number;
}

/** A word and its cosine similarity. */
export interface NearWord {
  word: string;
  value: number;
}

/** A word. */
export interface NeighborsRequest {
  model: string;
  word: string;
  top?: number;
}

/** The word as it is in the table, and the nearest others. */
export interface NeighborsView {
  word: string;
  nearest: NearWord[];
}

/** Two texts. */
export interface NextSentenceRequest {
  model: string;
  first: string;
  second: string;
}

/** The probability that the second text follows the first; None: the model has no such head. */
export interface NextSentenceView {
  probability: number | null;
}

/** An n-gram of the hypothesis, how often it is there, in the reference, and what counts. */
export interface NgramMatch {
  ngram: string;
  count: number;
  in_reference: number;
  clipped: number;
}

/** A word, and sentences that contain it. */
export interface OccurrencesRequest {
  model: string;
  word: string;
  sentences: string[];
  layer?: number;
}

/** Points of the word: one for each sentence, and one for its row of the embedding matrix. */
export interface OccurrencesView {
  sentences: string[];
  points: Floats;
  static: Floats;
  similarities: Floats;
}

/** A chart of a run: lines of values by step. */
export interface Panel {
  title: string;
  lines: Line[];
}

/** A number of positions, a width, and a shift. */
export interface PositionsRequest {
  length?: number;
  width?: number;
  shift?: number;
}

/** Sinusoids (T, D), the bits of a counter (T, B), and the matrix that shifts a position. */
export interface PositionsView {
  values: Floats;
  bits: Floats;
  shifted: Floats;
  error: number;
  rotation: Floats;
}

/** The fields of a row: text, second; question, context; context, choices. */
export interface PredictRequest {
  model: string;
  fields: Record<string, string>;
  choices?: string[];
}

/** The output of a head. */
export interface PredictView {
  output: string;
  value: number;
  is_probability: boolean;
  labels: Labeled[];
  words: TaggedWord[];
  influence: WordInfluence[];
  begin: number | null;
  end: number | null;
  mix: Record<string, number> | null;
  fields: string[];
}

/** The BLEU of a published model. */
export interface PublishedScore {
  name: string;
  bleu: number;
}

/** Published scores, independent of the race's data: only the order is comparable. */
export interface PublishedScores {
  title: string;
  about: string;
  scores: PublishedScore[];
}

/** The cross-attention of a member for the sentence of the race. */
export interface RaceAlignment {
  member: string;
  source: string[];
  target: string[];
  weights: Floats;
}

/** A metric of every member. */
export interface RaceColumn {
  key: string;
  label: string;
  format: string;
  best: string;
}

/** A member of a race with its metrics, by column. */
export interface RaceMember {
  name: string;
  run: string;
  parameters: number;
  steps: number;
  seconds: number;
  tokens_per_second: number;
  values: number[];
}

/** A sentence of the test set with its reference, and what each member makes of it. */
export interface RaceSample {
  source: string;
  reference: string;
  outputs: string[];
}

/** A race: its table, curves of all members, and measurements, as in its report. */
export interface RaceView {
  name: string;
  recipe: string;
  budget: string;
  columns: RaceColumn[];
  members: RaceMember[];
  failed: Record<string, string>;
  over_time: MeasuredPanel[];
  panels: Panel[];
  measured: MeasuredPanel[];
  alignments: RaceAlignment[];
  samples: RaceSample[];
  published: PublishedScores | null;
}

/** A number of examples of validation: sentences, rows, or windows of text. */
export interface RankingRequest {
  model: string;
  examples?: number;
}

/** All heads, the most important first. */
export interface RankingView {
  loss: number;
  unit: string;
  examples: number;
  heads: HeadEffect[];
}

/** The positions that one layer of a convolutional stack takes in around (encoder) or before (decoder) each. */
export interface ReceptiveField {
  side: string;
  layer: number;
  before: number;
  after: number;
}

/** A recipe or task that can be trained by name. */
export interface RecipeLine {
  name: string;
  task: string;
  about: string;
  data_flags: string;
}

/** All recipes and tasks. */
export interface RecipesRequest {
}

/** The recipes, then the tasks, which need data. */
export interface RecipesView {
  recipes: RecipeLine[];
}

/** One run in the list. */
export interface RunLine {
  name: string;
  state: string;
  task: string | null;
  noun: string;
  preset: string | null;
  metric: string | null;
  score: number | null;
  parameters: number | null;
  steps: number | null;
  started: string | null;
  is_alive: boolean;
  is_broken: boolean;
  reason: string | null;
  views: string[];
}

/** One run, by its path below the folder of runs. */
export interface RunRequest {
  run: string;
}

/** A run: its curves so far, its settings with their sources, its card. */
export interface RunView {
  run: string;
  state: string;
  is_alive: boolean;
  step: number;
  steps: number | null;
  seconds: number;
  tokens_per_second: number | null;
  best_step: number | null;
  panels: Panel[];
  note: string;
  settings: SettingValue[];
  card: string;
}

/** All runs. */
export interface RunsRequest {
}

/** The runs of the folder, the newest first. */
export interface RunsView {
  folder: string;
  runs: RunLine[];
}

/** A text of validation with its reference, and what the model makes of it. */
export interface Sample {
  source: string;
  reference: string;
  output: string;
}

/** A number of samples. */
export interface SamplesRequest {
  model: string;
  count?: number;
}

/** Samples of the best checkpoint. */
export interface SamplesView {
  samples: Sample[];
}

/** Scores q·k of one query, and the width of a head. */
export interface ScaledExampleRequest {
  scores?: number[];
  width?: number;
}

/** The scores divided by √K, and their softmax. */
export interface ScaledExampleView {
  scores: number[];
  scaled: number[];
  weights: number[];
  root: number;
}

/** The rate of a schedule at some steps. */
export interface ScheduleCurve {
  schedule: string;
  rates: number[];
}

/** Peak rate or factor, warm-up, length, and the width of the model. */
export interface SchedulesRequest {
  warmup?: number;
  steps?: number;
  width?: number;
  peak?: number;
}

/** The curves of the schedules at the same steps. */
export interface SchedulesView {
  steps: number[];
  curves: ScheduleCurve[];
}

/** A setting of a run, and where its value came from. */
export interface SettingValue {
  name: string;
  value: string;
  source: string;
}

/** Label smoothing, and the size of the vocabulary. */
export interface SmoothingRequest {
  smoothing?: number;
  vocabulary?: number;
}

/** The loss as a function of the probability of the label, the rest spread evenly; with and without smoothing. */
export interface SmoothingView {
  probabilities: number[];
  smoothed: number[];
  plain: number[];
  target: number[];
  best: number;
}

/** A function of the library: where it is and its code. */
export interface Source {
  name: string;
  file: string;
  line: number;
  code: string;
}

/** The probabilities of the listed candidates after one stage: 0 where it is filtered out. */
export interface StageValue {
  stage: string;
  probabilities: number[];
  kept: number;
}

/** A recipe, settings by dotted name as text, and the path of the run below the folder of runs. */
export interface StartRequest {
  recipe: string;
  values: Record<string, string>;
  run: string;
}

/** A process that trains a run. */
export interface Started {
  run: string;
  pid: number;
}

/** An input (with the target of a translator), and a kind, layer, head and position (0: the first). */
export interface StepsRequest {
  model: string;
  text?: string;
  fields?: Record<string, string>;
  choices?: string[];
  target?: string | null;
  kind?: string;
  layer?: number;
  head?: number;
  position?: number;
}

/** All stages of one position, in order, and the functions. */
export interface StepsView {
  kinds: string[];
  kind: string;
  layers: number;
  heads: number;
  queries: string[];
  keys: string[];
  stages: AttentionStage[];
  candidates: TokenCandidate[];
  sources: Source[];
}

/** The state of a run that was asked to stop. */
export interface Stopped {
  run: string;
  state: "stopping" | "not running";
}

/** All studies. */
export interface StudiesRequest {
}

/** The studies below the folder of runs. */
export interface StudiesView {
  studies: StudyLine[];
}

/** A race or transfer study in the list. */
export interface StudyLine {
  name: string;
  kind: "race" | "transfer";
  is_finished: boolean;
  reason: string | null;
}

/** A study, by its path below the folder of runs. */
export interface StudyRequest {
  study: string;
}

/** A word with its tag and the tag's probability. */
export interface TaggedWord {
  word: string;
  tag: string;
  probability: number;
}

/** A token and its probability. */
export interface TokenCandidate {
  id: number;
  token: string;
  probability: number;
}

/** The mean accuracy of a method with some examples. */
export interface TransferCell {
  accuracy: number | null;
  spread: number | null;
  seeds: number;
}

/** A row of the table. */
export interface TransferMethod {
  method: string;
  trainable_parameters: number | null;
  cells: TransferCell[];
  runs: TransferOutcome[];
}

/** One run of a method. */
export interface TransferOutcome {
  size: number;
  seed: number;
  accuracy: number;
  seconds: number;
}

/** A transfer study: accuracy by method and number of examples. */
export interface TransferView {
  name: string;
  done: number;
  of: number;
  sizes: number[];
  methods: TransferMethod[];
  baseline: number | null;
  failed: Record<string, string>;
}

/** A finished output. */
export interface TreeHypothesis {
  text: string;
  tokens: string[];
  token_ids: number[];
  log_probability: number;
  score: number;
  finish_reason: string;
}

/** A hypothesis: one token more than its parent (-1: the root). */
export interface TreeNode {
  id: number;
  parent: number;
  step: number;
  token: string;
  token_id: number;
  rank: number;
  probability: number;
  log_probability: number;
  score: number;
  fate: "kept" | "finished" | "pruned" | "outscored" | "stopped";
}

/** An input, options of the call by name, and output ids that are forced. */
export interface TreeRequest {
  model: string;
  text: string;
  options?: Record<string, string | number | boolean | null>;
  prefix?: number[];
}

/** A search as a tree, or the passes of mask-predict. */
export interface TreeView {
  nodes: TreeNode[];
  passes: MaskPass[];
  hypotheses: TreeHypothesis[];
  method: string;
  beam_size: number;
  forced: number;
}

/** A word of a field, and how much lower the value of the output is without it. */
export interface WordInfluence {
  field: string;
  word: string;
  begin: number;
  end: number;
  influence: number;
}

/** Request and response of each call. */
export interface Calls {
  "attention": [AttentionRequest, AttentionView];
  "gates": [GatesRequest, GatesView];
  "tree": [TreeRequest, TreeView];
  "alternatives": [AlternativesRequest, AlternativesView];
  "steps": [StepsRequest, StepsView];
  "intervene": [InterventionRequest, InterventionView];
  "rank": [RankingRequest, RankingView];
  "lens": [LensRequest, LogitLensView];
  "fields": [FieldsRequest, FieldsView];
  "fill": [FillRequest, FillView];
  "next-sentence": [NextSentenceRequest, NextSentenceView];
  "predict": [PredictRequest, PredictView];
  "map": [MapRequest, MapView];
  "neighbors": [NeighborsRequest, NeighborsView];
  "analogy": [AnalogyRequest, AnalogyView];
  "occurrences": [OccurrencesRequest, OccurrencesView];
  "merges": [MergesRequest, MergesView];
  "samples": [SamplesRequest, SamplesView];
  "runs": [RunsRequest, RunsView];
  "run": [RunRequest, RunView];
  "recipes": [RecipesRequest, RecipesView];
  "form": [FormRequest, FormView];
  "start": [StartRequest, Started];
  "stop": [RunRequest, Stopped];
  "resume": [RunRequest, Started];
  "log": [RunRequest, LogView];
  "studies": [StudiesRequest, StudiesView];
  "race": [StudyRequest, RaceView];
  "transfer": [StudyRequest, TransferView];
  "scaled-example": [ScaledExampleRequest, ScaledExampleView];
  "positions": [PositionsRequest, PositionsView];
  "schedules": [SchedulesRequest, SchedulesView];
  "smoothing": [SmoothingRequest, SmoothingView];
  "bleu": [BleuRequest, BleuView];
  "masks": [MasksRequest, MasksView];
  "cell": [CellRequest, CellView];
}
