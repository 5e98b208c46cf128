// Looks at a run as it goes on, in nine tabs, at its past, and runs it again from a call. Its
// arguments: a run that waits for the gate, a run whose call is uncertain, and one with a loop.
import { args, ask, base, check, focus, link, main, open, page, press, shot } from "./drive.mjs";

const [waits, lost, loop] = args;
const at = selector => page.textContent(selector);

await main(async () => {
  await page.goto(link);
  await page.goto(`${base}/runs/${waits}`);
  await page.waitForFunction(() => document.querySelector("#drawing g[data-id=slow]")?.textContent.includes("► running"));
  check((await at("#drawing g[data-id=after]")).includes("○ pending"), "the graph does not show what is to come");

  // Numbers, graph and table tell one state, whenever one looks, also while a button has the focus.
  await focus("Cancel the run");
  await page.evaluate(() => {
    window.differ = [];
    const counted = statuses => [...statuses].sort().join(" ");
    requestAnimationFrame(function look() {
      const numbers = [...document.querySelectorAll("#head p:nth-of-type(2) .status")].flatMap(s => Array(Number(s.previousElementSibling.textContent)).fill(s.textContent.slice(2)));
      const graph = [...document.querySelectorAll("#drawing g[data-id]")].map(g => g.dataset.status), table = [...document.querySelectorAll("#calls tr[data-call] .status")].map(s => s.textContent.slice(2));
      const all = [numbers, graph, table].map(counted);
      if (new Set(all).size > 1) window.differ.push(all.join(" / "));
      requestAnimationFrame(look);
    });
  });

  // Nine tabs are told by one connection.
  const tabs = [page];
  while (tabs.length < 9) {
    const tab = await open();
    await tab.goto(`${base}/runs/${waits}`);
    await tab.waitForSelector("#drawing svg");
    tabs.push(tab);
  }
  await ask("go on");
  for (const tab of tabs) {
    await tab.waitForFunction(() => document.querySelector("#drawing g[data-id=after]")?.textContent.includes("✓ completed"));
    await tab.waitForFunction(() => document.querySelector('tr[data-call="after"] .status').textContent === "✓ completed");
  }
  check((await page.textContent("#drawing g[data-id=after] title")).endsWith(" · completed"), "the title of a call is an old one");
  for (const tab of tabs.slice(1)) await tab.close();
  await page.waitForFunction(() => document.querySelector("#head").dataset.ended);
  check(await page.evaluate(() => differ.length === 0), "numbers, graph and table differ: " + await page.evaluate(() => differ[0]));
  check(/waited for slow/.test(await at('tr[data-call="after"]')), "the row does not say what the call waited for");
  await shot("run-time");

  // The slider moves the graph, the table and the whiteboard.
  check((await at("#board")).includes("done"), "the whiteboard lacks what was written");
  await page.locator("input[type=range]").focus();
  await page.keyboard.press("Home");
  await page.waitForFunction(() => document.querySelector("#drawing g[data-id=slow]").textContent.includes("○ pending") && !document.querySelector("#board").textContent.includes("done"));
  check(new URL(page.url()).searchParams.get("at") === "1", "the address does not tell the event");
  await page.keyboard.press("End");
  await page.waitForFunction(() => document.querySelector("#drawing g[data-id=slow]").textContent.includes("✓ completed") && document.querySelector("#board").textContent.includes("done"));

  // By keyboard to a call, and to a fork of the run from there with another value.
  await press("after");
  check((await at(".beside")).includes('"n": 20'), "the page of the call has not its params");
  await shot("call");
  await focus("css=textarea[name=set]");
  await page.keyboard.press("Control+A");
  await page.keyboard.type("input.n=7");
  await press("Run again from here");
  const fork = new URL(page.url()).pathname;
  check(fork.startsWith("/runs/") && !fork.endsWith(waits), "it does not go to the fork");
  await ask("finished " + fork.split("/").pop());
  await page.goto(base + fork);
  await shot("fork");
  check((await at("main")).includes("A fork of") && /"after": 28/.test(await at("#board")), "the fork has not the other value");

  // Settled in place.
  await page.goto(`${base}/runs/${lost}`);
  check((await at("#questions")).includes("may have done its work"), "the page does not say that the call is uncertain");
  await shot("uncertain");
  await press("Call it again");
  await ask("finished " + lost);
  await page.waitForFunction(() => document.querySelector("td .status").textContent === "✓ completed");
  check(await page.evaluate(() => !document.querySelector("#questions").textContent.trim()), "the question is still there");

  // A group opens and closes by keyboard, and stays as it is when the page is made anew.
  await page.goto(`${base}/runs/${loop}`);
  await page.waitForSelector("#drawing svg");
  await shot("groups");
  const before = await page.locator("#drawing g[data-id]").count();
  await focus("css=details[data-key] > summary");
  await page.keyboard.press("Enter");
  await page.waitForSelector('tr[data-call="each[2]/twice"]', { state: "visible" });
  await press("Collapse what is inside of delegates");
  await page.waitForSelector("#drawing svg");
  check(await page.locator("#drawing g[data-id]").count() < before, "the graph does not collapse");
});
