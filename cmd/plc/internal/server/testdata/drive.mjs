// What the scripts that drive Chromium share. Arguments of each: the folder that has
// playwright-core, the browser, the link that logs in, the address, a folder for screenshots ("" for
// none), and the script's own. A script asks for a thing to be done to the server by a line on
// standard output, and goes on when a line comes back.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const [modules, executablePath, link, base, shots, ...args] = process.argv.slice(2);
const { chromium } = createRequire(modules + "/")("playwright-core");
const replies = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const problems = [];

export { args, base, link, problems };
export const check = (ok, what) => { if (!ok) problems.push(what); };

export async function ask(what) {
  console.log(what);
  return (await replies.next()).value;
}

export const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"], timeout: 60_000 });
export const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
context.setDefaultTimeout(30_000);

export const state = { offline: false }; // while the server is away, requests may fail

// open returns a tab whose faults are problems.
export async function open() {
  const page = await context.newPage();
  page.on("console", m => { if (m.type() === "error" && !state.offline) problems.push(`console: ${m.text()} at ${m.location().url} on ${page.url()}`); });
  page.on("pageerror", e => problems.push(`script: ${e} on ${page.url()}`));
  page.on("dialog", d => { problems.push(`dialog: ${d.message()}`); d.dismiss(); });
  return page;
}
export const page = await open();

export const shot = async (name, of = page) => { if (shots) await of.screenshot({ path: `${shots}/${name}.png`, fullPage: true }); };

// focus moves with Tab to what has this text, or matches this selector after "css=".
export async function focus(label) {
  for (let i = 0; i < 120; i++) {
    await page.keyboard.press("Tab");
    const there = await page.evaluate(l => l.startsWith("css=") ? document.activeElement?.matches(l.slice(4)) : document.activeElement?.textContent === l, label);
    if (there) return;
  }
  throw new Error(`the keyboard does not reach ${label} on ${page.url()}`);
}

// press moves to a link or a button with this text, and Enter presses it.
export async function press(label) {
  await focus(label);
  await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]);
}

// write puts a text in place of the plan in the editor. (An editor that has just got the focus puts
// its own selection back, and what fill had selected would stay.)
export async function write(text) {
  await page.locator(".cm-content").focus();
  await page.keyboard.press("Control+A");
  await page.keyboard.insertText(text);
}

// main runs the script, and reports what was wrong.
export async function main(script) {
  try {
    await script();
  } catch (e) {
    problems.push(String(e.stack ?? e));
  }
  await browser.close();
  for (const p of problems) console.log("PROBLEM " + p.replaceAll("\n", " | "));
  console.log("end");
  process.exit(0);
}
