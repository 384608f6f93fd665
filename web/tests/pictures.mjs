// The pictures of the documentation: node pictures.mjs ADDRESS CHROMIUM FOLDER TRANSLATOR
import { open } from "./browser.mjs";

const [address, executable, folder, translator] = process.argv.slice(2);
const { browser, page } = await open(address, executable);
await page.setViewportSize({ width: 1200, height: 760 });
const SENTENCE = "Der kleine Hund schläft im Garten.";
const query = (values) => new URLSearchParams(values).toString();
const figure = (title) => page.locator("figure").filter({ has: page.getByRole("heading", { name: title }) }).first();

async function picture(name, hash, title, theme = "light") {
  await page.goto(`${address}/#/concepts?concept=masks`);
  await page.goto(`${address}/${hash}`);
  await figure(title).waitFor();
  await page.evaluate((each) => (document.documentElement.dataset.theme = each), theme);
  await page.waitForTimeout(600);
  await figure(title).screenshot({ path: `${folder}/studio-${name}.png` });
}

await picture("attention", `#/attention?${query({ model: translator, text: SENTENCE })}`, "cross attention");
await picture("decoding", `#/tree?${query({ model: translator, text: SENTENCE, beam: 3 })}`, "Search tree");
await picture("steps", `#/steps?${query({ model: translator, text: SENTENCE, kind: "decoder", layer: 0, position: 2 })}`, "in decoder attention");
await picture("intervene", `#/intervene?${query({ model: translator, text: SENTENCE })}`, "attention of the edited model");
await picture("positions", "#/concepts", "Sinusoids");
await picture("runs", `#/runs?${query({ runs: translator })}`, `Curves of ${translator}`);
await browser.close();
