// Has axe-core look at all pages in their states. Its arguments: the folder that has axe-core, a
// hostile run that waits, and runs that failed, that ended and that have a loop.
import { readFileSync } from "node:fs";
import { args, base, check, link, main, page, shot, write } from "./drive.mjs";

const [modules, waits, failed, ended, loop] = args;
const axe = readFileSync(`${modules}/node_modules/axe-core/axe.min.js`, "utf8");

// look reports what axe-core finds on the page as it is. The debugger's console is under no policy.
async function look(what) {
  const devtools = await page.context().newCDPSession(page);
  const run = async expression => (await devtools.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true, allowUnsafeEvalBlockedByCSP: true })).result.value;
  await run(axe + ";0");
  const found = await run(`axe.run({ resultTypes: ["violations"] }).then(r => r.violations.filter(v => ["serious", "critical"].includes(v.impact)).map(v => v.id + ": " + v.nodes.slice(0, 3).map(n => n.html.slice(0, 160) + " " + (n.any[0]?.message ?? n.all[0]?.message ?? "")).join(" ; ")))`);
  await devtools.detach();
  check(Array.isArray(found), `${what}: axe did not run`);
  for (const f of found ?? []) check(false, `${what}: ${f}`);
}

// whole reports tables that do not fit into their places.
async function whole(what) {
  const cut = await page.evaluate(() => [...document.querySelectorAll(".wide")].filter(w => w.querySelector("table") && w.offsetParent && w.scrollWidth > w.clientWidth).map(w => w.querySelector("tr").textContent));
  check(cut.length === 0, `${what}: tables are cut: ${cut.join("; ")}`);
}

const states = [
  ["/", ""], ["/?status=undone", ""], ["/inbox", "article"], ["/inbox?run=none", ""],
  [`/runs/${waits}`, "#drawing svg"], [`/runs/${waits}/call?call=wipe-1`, "article"], [`/runs/${failed}`, "#drawing svg"], [`/runs/${failed}/call?call=wipe`, ".beside"],
  [`/runs/${ended}`, "#drawing svg"], [`/runs/${ended}?at=2`, "#drawing svg"], [`/runs/${loop}`, "#drawing svg"], [`/runs/${loop}?under=each`, "#drawing svg"], ["/playground", ".cm-content"],
];

await main(async () => {
  await page.goto(base + "/login");
  await look("/login");
  await page.goto(link);
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    for (const width of colorScheme === "light" ? [360, 3840] : [1280]) {
      await page.setViewportSize({ width, height: 900 });
      for (const [path, selector] of states) {
        await page.goto(base + path);
        if (selector) await page.waitForSelector(selector);
        await page.evaluate(() => { for (const d of document.querySelectorAll("details")) d.open = true; });
        await look(`${path} at ${width}, ${colorScheme}`);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        check(wide <= width, `${path} is ${wide} pixels wide at ${width}`);
        await whole(`${path} at ${width}`);
        await page.setViewportSize({ width: 820, height: 900 });
        await whole(`${path} at 820`);
        await page.setViewportSize({ width, height: 900 });
        await shot(`axe-${colorScheme}-${width}${path.replace(/[^a-z?=]+/g, "-")}`);
      }
      await write('[{"_tool": "wype", "what": 1}, // a note\n {"_tool": "wipe", "what": "x"}]');
      await page.waitForSelector(".cm-lintRange-error");
      await page.waitForSelector("button[name=fix]");
      await look(`a fault in the playground at ${width}, ${colorScheme}`);
      await shot(`axe-${colorScheme}-${width}-fault`);
      await write('[{"_tool": "double", "n": 1, "_outputPath": "†state.n"}, {"_tool": "wipe", "what": "a text that is long enough to be cut when there is no room for it"}]');
      await page.waitForSelector("#result .effect");
      for (const w of [width, 1200]) {
        await page.setViewportSize({ width: w, height: 900 });
        await look(`a preview at ${w}, ${colorScheme}`);
        await whole(`a preview at ${w}`);
        await shot(`axe-${colorScheme}-${w}-preview`);
      }
    }
  }
});
