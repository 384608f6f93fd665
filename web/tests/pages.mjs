// All views as a user goes through them: node pages.mjs ADDRESS CHROMIUM; prints what was seen as JSON.
import { open, saved, serious } from "./browser.mjs";

const [address, executable] = process.argv.slice(2);
const { browser, page, noted, go } = await open(address, executable);
page.setDefaultTimeout(30_000);
const seen = {};
const SENTENCE = "Der kleine Hund schläft im Garten.";
const figure = (title) => page.locator("figure").filter({ has: page.getByRole("heading", { name: title }) }).first();
const json = async (title) => JSON.parse(await saved(page, figure(title), "JSON"));
const query = (values) => new URLSearchParams(values).toString();

async function view(name, hash, ready, act = async () => ({})) {
  const began = Date.now();
  try {
    await go(hash);
    await ready();
    const sentence = await page.locator("main p.muted").first().innerText();
    const facts = await act();
    const axe = await serious(page);
    await page.emulateMedia({ colorScheme: "dark" });
    await page.waitForTimeout(50);
    const dark = await serious(page);
    await page.emulateMedia({ colorScheme: "light" });
    await page.setViewportSize({ width: 390, height: 800 });
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    await page.setViewportSize({ width: 1280, height: 900 });
    const link = page.url();
    seen[name] = { sentence, axe, dark, overflow, link, ...facts };
  } catch (error) {
    seen[name] = { failure: `${error.message}\n${await page.locator("main").innerText().catch(() => "")}`.slice(0, 1500) };
  }
  seen[name].milliseconds = Date.now() - began;
}

await view("runs", `#/runs?${query({ runs: "translator" })}`, () => figure("Curves of translator").waitFor(), async () => {
  const broken = await page.getByRole("row", { name: /broken/ }).innerText();
  await page.getByRole("button", { name: "Samples from validation" }).click();
  await page.getByRole("columnheader", { name: "reference" }).waitFor();
  const sample = await page.locator("section table tbody tr").first().locator("td").allInnerTexts();
  await page.getByRole("button", { name: "New run" }).click();
  await page.getByRole("combobox", { name: "Recipe or task" }).selectOption("translate-miniature");
  await page.getByRole("searchbox", { name: "Find a setting" }).fill("train.steps");
  const steps = page.getByRole("textbox", { name: "train.steps" });
  await steps.fill("12");
  await steps.press("Tab");
  await page.locator("pre").filter({ hasText: "train.steps=12" }).waitFor();
  const command = await page.locator("form pre").innerText();
  const why = await page.getByRole("row", { name: /^train\.steps/ }).locator("td").nth(2).innerText();
  await page.getByRole("button", { name: "Close the form" }).click();
  return { broken, sample, command, why, curves: await json("Curves of translator") };
});
await view("attention", `#/attention?${query({ model: "translator", text: SENTENCE, layer: 0, head: 2 })}`, () => figure("All heads").waitFor(), async () => {
  const matrix = page.getByRole("img", { name: /Attention matrix/ });
  await matrix.focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowDown");
  const cell = await figure("cross attention").locator(".value").innerText();
  const svg = String(await saved(page, figure("cross attention"), "SVG"));
  const png = await saved(page, figure("cross attention"), "PNG");
  const data = await json("cross attention");
  const all = await json("All heads");
  await page.getByRole("button", { name: "layer 0, head 1" }).click();
  await figure("cross attention, layer 0, head 1").waitFor();
  return { cell, data, all, svg: [svg.startsWith("<svg"), svg.includes("<image"), svg.includes("Hund")], png: png.subarray(1, 4).toString() };
});
await view("gates", `#/attention?${query({ model: "race/runs/gru-attention", text: "Ja ." })}`, () => figure("Unrolled").waitFor(), async () => ({ data: await json("Unrolled") }));
await view("tree", `#/tree?${query({ model: "translator", text: SENTENCE, beam: 3 })}`, () => figure("Search tree").waitFor(), async () => {
  const data = await json("Search tree");
  const outputs = await page.locator("main table tbody tr td:first-child").allInnerTexts();
  const node = page.getByRole("group", { name: /hypotheses$/ }).getByRole("button", { name: /kept/ }).first();
  await node.focus();
  await page.keyboard.press("Enter");
  const others = page.getByRole("group", { name: "Alternatives" }).getByRole("button");
  await others.nth(1).waitFor();
  const heading = page.getByRole("region", { name: "Chosen token" }).getByRole("heading");
  const chosen = [await heading.innerText()];
  await page.reload();
  await others.nth(1).waitFor();
  chosen.push(await heading.innerText());
  const taken = await others.nth(1).locator("text").first().textContent();
  await others.nth(1).click();
  await page.getByRole("button", { name: "Let the model choose again" }).waitFor();
  return { data, outputs, chosen, taken, forced: await page.locator("main table tbody tr td:first-child").allInnerTexts() };
});
await view("steps", `#/steps?${query({ model: "translator", text: SENTENCE, kind: "decoder", layer: 0, head: 1, position: 1 })}`, () => figure("in decoder attention").waitFor(), async () => {
  const example = await page.locator(".example").innerText();
  const values = await page.locator("li").filter({ has: page.locator("strong", { hasText: /^weights$/ }) }).locator("[data-value]").evaluateAll((all) => all.map((each) => Number(each.dataset.value)));
  await page.getByRole("button", { name: "attention_weights" }).first().click();
  const source = await page.getByRole("region", { name: "Source" }).innerText();
  await page.getByRole("button", { name: "t + 1" }).click();
  await page.getByText("t = 3 of").waitFor();
  return { example, values, source };
});
await view("intervene", `#/intervene?${query({ model: "translator", text: SENTENCE })}`, () => figure("attention of the edited model").waitFor(), async () => {
  const before = await page.locator(".outputs strong").allInnerTexts();
  await page.getByRole("button", { name: "Switch layer 0 off" }).click();
  await page.getByText("cross, layer 0: all heads off").waitFor();
  const matrix = page.getByRole("img", { name: "Weights of the edited model" });
  await matrix.focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await page.getByRole("spinbutton", { name: "weight" }).fill("0.6");
  await page.getByRole("button", { name: "Overwrite and decode anew" }).click();
  await page.getByText("With 2 edits").waitFor();
  await page.waitForTimeout(500);
  const after = await page.locator(".outputs strong").allInnerTexts();
  const data = await json("attention of the edited model");
  const code = await page.locator("details pre").textContent();
  await page.getByRole("button", { name: "Undo", exact: true }).click();
  await page.getByText("With 1 edit").waitFor();
  await page.getByRole("spinbutton", { name: "Examples of validation" }).fill("4");
  await page.getByRole("button", { name: "Rank all heads" }).click();
  await figure("Loss without each head").waitFor();
  const ranking = await json("Loss without each head");
  await page.reload();
  await figure("Loss without each head").waitFor();
  const restored = await json("Loss without each head");
  return { before, after, restored, weight: data.view.weights.values[1], edits: data.edits, code, ranking };
});
await view("edited classifier", `#/intervene?${query({ model: "classify", "f-text": "a good long book", edits: JSON.stringify([{ kind: "self", layer: 0, head: 1 }]) })}`, () => figure("attention of the edited model").waitFor(), async () => ({ data: await json("attention of the edited model") }));
await view("generate", `#/generate?${query({ model: "language-model", text: "Anna", length: 6, topk: 5, seed: 3 })}`, () => page.getByRole("button", { name: "Generate" }).waitFor(), async () => {
  await page.getByRole("button", { name: "Generate" }).click();
  await page.getByRole("button", { name: "Logit lens of this text" }).click();
  await figure("Logit lens").waitFor();
  const [data, lens] = [await json("Generated text"), await json("Logit lens")];
  await page.reload();
  await figure("Logit lens").waitFor();
  return { data, lens, restored: await json("Logit lens") };
});
await view("words", `#/words?${query({ model: "masked-language-model", masked: "Anna sees the dog." })}`, () => page.getByRole("button", { name: "dog." }).waitFor(), async () => {
  await page.getByRole("button", { name: "dog." }).click();
  await page.getByRole("heading", { name: "Mask 1" }).waitFor();
  const data = await json("Anna sees the");
  await page.getByRole("button", { name: "Compute" }).click();
  return { data, pair: await page.getByText("Next-sentence probability").innerText() };
});
await view("heads", `#/words?${query({ model: "classify", "f-text": "a good long book" })}`, () => page.getByRole("button", { name: "Predict" }).waitFor(), async () => {
  await page.getByRole("button", { name: "Predict" }).click();
  await page.getByText("probability").first().waitFor();
  const chips = await page.locator("figure .chip").allInnerTexts();
  return { chips };
});
await view("map", `#/map?${query({ model: "vectors" })}`, () => page.getByRole("img", { name: /^Map of/ }).waitFor(), async () => {
  const first = await json("words, PCA");
  await page.getByRole("searchbox", { name: "Search" }).fill(first.words[5]);
  await page.getByRole("button", { name: first.words[5], exact: true }).click();
  await page.getByRole("heading", { name: `Nearest to “${first.words[5]}”` }).waitFor();
  return { word: first.words[5], near: (await json("words, PCA")).near, points: first.points.length, words: first.words.length };
});
for (const [concept, title] of [["positions", "Sinusoids"], ["rates", "Learning rate"], ["smoothing", "Loss by"], ["merges", "Merges of"], ["bleu", "BLEU-4"], ["masks", "Who may"], ["cell", "LSTM"]]) {
  await view(`concepts: ${concept}`, `#/concepts?${query({ concept })}`, () => figure(title).waitFor());
}
await view("reports", `#/reports?${query({ study: "race" })}`, () => figure("race").waitFor(), async () => ({ members: await figure("race").locator("table tbody tr td:first-child").allInnerTexts(), data: await json("race"), measured: await json("Measured on the best checkpoints") }));

console.log(JSON.stringify({ seen, hosts: [...noted.hosts], errors: noted.errors }));
await browser.close();
