// The pictures of the documentation: node pictures.mjs ADDRESS CHROMIUM FOLDER TRANSLATOR
import { open } from "./browser.mjs";

const [address, executable, folder, translator] = process.argv.slice(2);
const { browser, page } = await open(address, executable);
const SENTENCE = "Der kleine Hund schläft im Garten.";
const EDITS = JSON.stringify([{ kind: "cross", layer: 0, head: 0, query: 2, key: 5, weight: 0.7 }]);
const query = (values) => new URLSearchParams(values).toString();
const figure = (title) => page.locator("figure").filter({ has: page.getByRole("heading", { name: title }) }).first();

async function picture(name, hash, title, width = 1200) {
  await page.setViewportSize({ width, height: 760 });
  await page.goto(`${address}/#/concepts?concept=masks`);
  await page.goto(`${address}/${hash}`);
  await figure(title).waitFor();
  await page.evaluate(() => (document.documentElement.dataset.theme = "light"));
  await page.waitForTimeout(600);
  await figure(title).screenshot({ path: `${folder}/studio-${name}.png` });
}

await picture("attention", `#/attention?${query({ model: translator, text: SENTENCE })}`, "cross attention", 800);
await picture("decoding", `#/tree?${query({ model: translator, text: "Der Hund schläft.", beam: 3 })}`, "Search tree");
await picture("steps", `#/steps?${query({ model: translator, text: SENTENCE, kind: "decoder", layer: 0, position: 2 })}`, "in decoder attention", 800);
await picture("intervene", `#/intervene?${query({ model: translator, text: SENTENCE, edits: EDITS })}`, "attention of the edited model", 800);
await picture("positions", "#/concepts", "Sinusoids");
await picture("runs", `#/runs?${query({ runs: translator })}`, `Curves of ${translator}`);
await browser.close();
