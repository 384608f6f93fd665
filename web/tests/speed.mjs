// The numbers of benchmarks/studio.py: node speed.mjs ADDRESS CHROMIUM TRANSLATOR VECTORS; prints JSON.
import { readFileSync } from "node:fs";
import { open } from "./browser.mjs";

const [address, executable, translator, vectors, texts] = process.argv.slice(2);
const { short, long } = JSON.parse(readFileSync(texts, "utf8"));
const { browser, page, noted } = await open(address, executable);
page.setDefaultTimeout(120_000);
const result = {};
const query = (values) => new URLSearchParams(values).toString();

// Every answer of a call is timed where its bytes have arrived, and every picture where it is on the screen.
await page.addInitScript(() => {
  globalThis.answered = {};
  const plain = globalThis.fetch;
  globalThis.fetch = async (...words) => {
    const name = String(words[0]).split("/").at(-1);
    const began = performance.now();
    const response = await plain(...words);
    const copy = await response.clone().arrayBuffer();
    globalThis.answered[name] = { began, at: performance.now(), bytes: copy.byteLength };
    return response;
  };
});
const painted = (selector) => page.evaluate(
  (wanted) => new Promise((done) => {
    const look = () => (document.querySelector(wanted) ? requestAnimationFrame(() => done(performance.now())) : requestAnimationFrame(look));
    look();
  }), selector);
const answered = (name) => page.evaluate((each) => globalThis.answered[each], name);

// The script that a frame takes while the pointer moves: all time in scripts by the number of moves, and the longest.
const session = await page.context().newCDPSession(page);
await session.send("Performance.enable");
const scripted = async () => Object.fromEntries((await session.send("Performance.getMetrics")).metrics.map((each) => [each.name, each.value]));
async function moving(act, moves) {
  await page.evaluate(() => {
    globalThis.longest = 0;
    globalThis.watch = new PerformanceObserver((list) => { for (const each of list.getEntries()) globalThis.longest = Math.max(globalThis.longest, each.processingEnd - each.processingStart); });
    globalThis.watch.observe({ type: "event", durationThreshold: 16 });
  });
  const before = await scripted();
  for (let i = 0; i < moves; i++) await act(i);
  const after = await scripted();
  const longest = await page.evaluate(() => { globalThis.watch.disconnect(); return globalThis.longest; });
  return { mean: (1000 * (after.ScriptDuration - before.ScriptDuration)) / moves, longest };
}

await page.goto(`${address}/#/runs`);
await page.getByRole("table").first().waitFor();
result.first_paint_ms = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime);
result.runs_answer_ms = await answered("runs").then((each) => each.at - each.began);

await page.goto(`${address}/#/attention?${query({ model: translator, text: short, kind: "encoder" })}`);
await page.reload();
await painted("figure svg image");
await page.goto(`${address}/#/concepts`);
await page.getByText("Sinusoids beside").waitFor();
await page.evaluate((hash) => { delete globalThis.answered.attention; location.hash = hash; }, `#/attention?${query({ model: translator, text: short, kind: "encoder" })}`);
const shown = await painted("figure:nth-of-type(2) svg image");
const attention = await answered("attention");
result.attention_50_tokens_ms = shown - attention.at;
result.attention_50_tokens_bytes = attention.bytes;

await page.goto(`${address}/#/attention?${query({ model: translator, text: long, kind: "encoder" })}`);
await page.reload();
const whole = await painted("figure:nth-of-type(2) svg image");
const large = await answered("attention");
result.attention_512_tokens_shown_ms = whole - large.at;
result.attention_512_tokens_bytes = large.bytes;
const matrix = page.getByRole("img", { name: /Attention matrix/ });
await matrix.scrollIntoViewIfNeeded();
const box = await matrix.boundingBox();
const hover = await moving((i) => page.mouse.move(box.x + 20 + ((i * 7) % (box.width - 40)), box.y + 20 + ((i * 3) % Math.min(500, box.height - 40))), 120);
[result.hover_script_ms, result.hover_longest_ms] = [hover.mean, hover.longest];

await page.goto(`${address}/#/intervene?${query({ model: translator, text: short })}`);
await page.reload();
const weights = page.getByRole("img", { name: "Weights of the edited model" });
await weights.focus();
await page.keyboard.press("ArrowRight");
await page.keyboard.press("Enter");
await page.getByRole("spinbutton", { name: "weight" }).fill("0.9");
const times = [];
for (let i = 0; i < 5; i++) {
  const began = await page.evaluate(() => performance.now());
  await page.getByRole("button", { name: "Overwrite and decode anew" }).click();
  await page.getByText(i ? `With ${i + 1} edits` : "With 1 edit").waitFor();
  const at = await page.evaluate(() => new Promise((done) => { const look = () => (document.querySelector("form button.primary:disabled") ? requestAnimationFrame(look) : requestAnimationFrame(() => done(performance.now()))); look(); }));
  times.push(at - began);
  const call = await answered("intervene");
  result.overwrite_answer_ms = call.at - call.began;
}
result.overwrite_ms = times.sort((a, b) => a - b)[2];

await page.goto(`${address}/#/map?${query({ model: vectors, count: 100000 })}`);
await page.reload();
await page.getByRole("img", { name: /^Map of/ }).waitFor();
result.map_words = await page.getByRole("img", { name: /^Map of/ }).getAttribute("aria-label");
const map = await page.getByRole("img", { name: /^Map of/ }).boundingBox();
await page.mouse.move(map.x + 200, map.y + 200);
await page.mouse.down();
const pan = await moving((i) => page.mouse.move(map.x + 200 + (i % 60) * 3, map.y + 200 + (i % 40) * 2), 120);
await page.mouse.up();
[result.pan_script_ms, result.pan_longest_ms] = [pan.mean, pan.longest];
const word = await page.locator("svg text").first().textContent();
await page.getByRole("searchbox", { name: "Search" }).fill(word);
await page.getByRole("button", { name: word, exact: true }).click();
await page.getByRole("heading", { name: `Nearest to “${word}”` }).waitFor();
const near = await answered("neighbors");
result.neighbors_ms = near.at - near.began;

result.other_hosts = [...noted.hosts].length - 1;
result.errors = noted.errors;
console.log(JSON.stringify(result));
await browser.close();
