// Measures how a page keeps up with a run of 2,000 calls. Its arguments are the run, and how long to
// look, in milliseconds.
import { args, ask, base, check, link, main, page } from "./drive.mjs";

const [run, time] = args;

await main(async () => {
  await page.goto(link);
  const began = Date.now();
  await page.goto(`${base}/runs/${run}`);
  await page.waitForSelector("#drawing svg");
  const shown = Date.now() - began;
  check(await page.locator("#drawing g[data-id]").count() === 2000, "not all calls are drawn");
  await ask("go on");
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
  const spent = async () => Object.fromEntries((await devtools.send("Performance.getMetrics")).metrics.map(m => [m.name, m.value]));
  const before = await spent();
  const frames = await page.evaluate(time => new Promise(done => {
    const gaps = [], end = performance.now() + time;
    let last;
    requestAnimationFrame(function frame(now) {
      if (last) gaps.push(now - last);
      last = now;
      if (now < end) requestAnimationFrame(frame);
      else done(gaps);
    });
  }), Number(time));
  const after = await spent(), share = name => `${((after[name] - before[name]) / time * 1e5).toFixed(0)} %`;
  const events = Number(await page.evaluate(() => document.querySelector("main").dataset.seq));
  const completed = Number(await ask("stop"));
  const stopped = Date.now();
  await page.waitForFunction(n => document.querySelectorAll("#drawing g[data-status=completed]").length >= n, completed, { timeout: 60_000 }); // that it catches up; how fast is printed
  const lag = Date.now() - stopped;
  frames.sort((a, b) => a - b);
  console.log(`LOG shown after ${shown} ms; ${(events / time * 1000).toFixed(0)} events a second; ${completed} calls; ${frames.length} frames, of which ${frames.filter(f => f > 50).length} took more than 50 ms, the longest ${frames.at(-1).toFixed(0)} ms; ${lag} ms behind at the end; of a processor the page took ${share("TaskDuration")}, scripts ${share("ScriptDuration")}, layout ${share("LayoutDuration")}, styles ${share("RecalcStyleDuration")}`);
});
