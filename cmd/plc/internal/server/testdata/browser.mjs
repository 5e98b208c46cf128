// Drives Chromium through the pages of a server, as a person would. Arguments: the folder that has
// playwright-core, the browser, the link that logs in, the address, a hostile run, and a folder for
// screenshots ("" for none). It asks for a thing to be done to the server by a line on standard output,
// and goes on when a line comes back.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const [modules, executablePath, link, base, hostile, shots] = process.argv.slice(2);
const { chromium } = createRequire(modules + "/")("playwright-core");
const replies = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const problems = [];
const check = (ok, what) => { if (!ok) problems.push(what); };

async function ask(what) {
  console.log(what);
  await replies.next();
}

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"], timeout: 60_000 });
const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
context.setDefaultTimeout(60_000);
const page = await context.newPage();
let offline = false;
page.on("console", m => { if (m.type() === "error" && !offline) problems.push(`console: ${m.text()} at ${m.location().url}`); });
page.on("pageerror", e => problems.push(`script: ${e}`));
page.on("dialog", d => { problems.push(`dialog: ${d.message()}`); d.dismiss(); });
const shot = async name => { if (shots) await page.screenshot({ path: `${shots}/${name}.png`, fullPage: true }); };

// Tab moves to a button with this text, and Enter presses it.
async function press(label) {
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press("Tab");
    if (await page.evaluate(l => document.activeElement?.textContent === l, label)) {
      await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]);
      return;
    }
  }
  throw new Error(`the keyboard does not reach ${label} on ${page.url()}`);
}

try {
  // From text to a run that waits, with a mistake on the way.
  await page.goto(link);
  await press("Playground");
  await page.fill("textarea[name=plan]", '[{"_tool": "wype", "what": "cache"}]');
  await press("Check and preview");
  check((await page.textContent("main")).includes("line 1, column"), "the finding has no place");
  await page.fill("textarea[name=plan]", '[{"_tool": "wipe", "what": "cache", "_outputPath": "†state.done"}]');
  await press("Check and preview");
  check((await page.textContent(".effect")).includes("wipe"), "the preview does not show the effect");
  await shot("playground");
  await press("Run");
  const run = new URL(page.url()).pathname;
  await ask("paused " + run.split("/").pop());

  // Approved by keyboard alone.
  await page.reload();
  await press("It waits for a person");
  check((await page.textContent("article")).includes('"what": "cache"'), "the inbox does not show the params");
  await shot("inbox");
  await press("Approve");
  await ask("finished " + run.split("/").pop());
  await page.goto(base + run);
  check((await page.textContent("td.status")) === "completed", "the call is not completed");
  check((await page.textContent("main")).includes("wiped cache"), "the page does not show the result");
  check(await page.evaluate(() => document.getElementById("graph").decode().then(() => true, () => false)), "the graph is no picture");
  await shot("run");

  // As it was at first: nothing had been called yet.
  await page.locator("input[type=range]").focus();
  await page.keyboard.press("Home");
  await press("Show the run as it was then");
  check(!(await page.textContent("main")).includes("wiped cache"), "after the first event there is a result");
  check((await page.getAttribute("#graph", "src")).endsWith("/graph?at=1"), "the graph is not that of the first event");
  await page.goto(base + run);

  // A page that is open is told what happens, also when the server was away.
  await page.goto(base + "/playground");
  await page.fill("textarea[name=plan]", '[{"_tool": "slow"}, {"_tool": "wipe", "what": "disk"}]');
  await press("Run");
  offline = true;
  await ask("away");
  await page.waitForSelector("#lost", { state: "visible" });
  await ask("back");
  await page.waitForSelector("#lost", { state: "hidden" });
  offline = false;
  await ask("go on");
  await page.waitForSelector("#more", { state: "visible" });

  // Hostile texts stay text; small and dark; nothing runs that is not the server's own.
  await page.emulateMedia({ colorScheme: "dark" });
  for (const path of ["/", "/inbox", "/playground", "/runs/" + hostile, run]) {
    for (const width of [360, 1280, 3840]) {
      await page.setViewportSize({ width, height: 800 });
      await page.goto(base + path);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      check(wide <= width, `${path} is ${wide} pixels wide at ${width}`);
    }
    const light = await page.evaluate(() => getComputedStyle(document.body).color);
    check(light === "rgb(255, 255, 255)", `${path} is not dark: text is ${light}`);
    const foreign = await page.evaluate(() => [...document.querySelectorAll("script, iframe, object, embed, svg, [style]")].filter(e => !(e.localName === "script" && e.src.startsWith(location.origin))).length);
    check(foreign === 0, `${path} has elements that the server did not write`);
    await page.setViewportSize({ width: 360, height: 800 });
    await shot("small" + path.replaceAll("/", "-"));
  }
  const ran = await page.evaluate(async () => {
    const refused = [];
    addEventListener("securitypolicyviolation", e => refused.push(e.effectiveDirective));
    const s = document.createElement("script");
    try { s.text = "window.ran = true"; } catch { refused.push("trusted types"); }
    document.body.append(s);
    try { document.body.innerHTML = "<b>x</b>"; } catch { refused.push("trusted types"); }
    await new Promise(done => setTimeout(done, 0));
    return window.ran === true ? "ran" : refused.join(" ");
  }).catch(e => String(e));
  check(ran.includes("trusted types"), "the policy does not hold: " + ran);
  problems.splice(0, problems.length, ...problems.filter(p => !/^console: .*(TrustedScript|TrustedHTML|Trusted Type)/i.test(p)));

  // A form of another site is refused, and so is one without the cookie.
  const other = await context.newPage();
  await other.goto("data:text/html,<form method=post action='" + base + run + "/cancel'><button>x</button></form>");
  const [answer] = await Promise.all([other.waitForResponse(r => r.url().endsWith("/cancel")), other.click("button")]);
  check(answer.status() === 403, "a form of another site: status " + answer.status());
} catch (e) {
  problems.push(String(e.stack ?? e));
}
await browser.close();
for (const p of problems) console.log("PROBLEM " + p);
console.log("end");
process.exit(0);
