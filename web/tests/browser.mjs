// A real Chromium over the studio: requests to other hosts and errors are noted, axe is at hand.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const FLAGS = ["--no-sandbox", "--headless", "--disable-gpu", "--disable-background-networking"];

export async function open(address, executable) {
  const browser = await chromium.launch({ executablePath: executable, args: FLAGS });
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, bypassCSP: true });
  const page = await context.newPage();
  const noted = { hosts: new Set(), errors: [] };
  page.on("request", (request) => { if (/^https?:/.test(request.url())) noted.hosts.add(new URL(request.url()).host); });
  page.on("pageerror", (error) => noted.errors.push(error.message));
  page.on("console", (message) => { if (message.type() === "error") noted.errors.push(message.text()); });
  const go = async (hash) => {
    await page.goto(`${address}/#/concepts?concept=masks`);
    await page.goto(`${address}/${hash}`);
  };
  return { browser, page, noted, go };
}

/** Return the serious and critical findings of axe, in words. */
export async function serious(page) {
  await page.evaluate(AXE);
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  return found.violations
    .filter((each) => ["serious", "critical"].includes(each.impact))
    .map((each) => `${each.id}: ${each.nodes.slice(0, 2).map((node) => node.html.slice(0, 160)).join(" | ")}`);
}

/** Return what a button of a figure saves, as text. */
export async function saved(page, figure, button) {
  const [download] = await Promise.all([page.waitForEvent("download"), figure.getByRole("button", { name: button, exact: true }).click()]);
  return readFileSync(await download.path());
}
