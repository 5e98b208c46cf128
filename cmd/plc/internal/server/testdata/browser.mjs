// Takes a plan from text to a run that was approved, finished and looked at, as a person would. Its
// argument is a run with hostile texts.
import { args, ask, base, check, context, link, main, page, press, problems, shot, state, write } from "./drive.mjs";

const [hostile] = args;

await main(async () => {
  // From text to a run that waits, with a mistake on the way.
  await page.goto(link);
  await press("Playground");
  await write('[{"_tool": "wype", "what": "cache"}]');
  await press("Check and preview");
  check((await page.textContent("main")).includes("line 1, column"), "the finding has no place");
  await write('[{"_tool": "wipe", "what": "cache", "_outputPath": "†state.done"}]');
  await press("Check and preview");
  check((await page.textContent(".effect")).includes("wipe"), "the preview does not show the effect");
  await shot("playground");
  await press("Run");
  const run = new URL(page.url()).pathname;
  await ask("paused " + run.split("/").pop());

  // Approved by keyboard alone.
  await page.reload();
  await shot("run-waits");
  await page.goto(base + "/inbox?run=" + run.split("/").pop());
  check((await page.textContent("article")).includes('"what": "cache"'), "the inbox does not show the params");
  await shot("inbox");
  await press("Approve");
  await ask("finished " + run.split("/").pop());
  await page.goto(base + run);
  check((await page.textContent("td .status")) === "✓ completed", "the call is not completed");
  check((await page.textContent("main")).includes("wiped cache"), "the page does not show the result");
  await page.waitForSelector("#drawing svg");
  await shot("run");

  // As it was at first: nothing had been called yet.
  await page.locator("input[type=range]").focus();
  await page.keyboard.press("Home");
  await page.waitForFunction(() => document.querySelector("#drawing g[data-id]").textContent.includes("○ pending"));
  check(!(await page.textContent("#calls")).includes("wiped cache"), "after the first event there is a result");
  await press("Show the run as it was then");
  check(!(await page.textContent("#calls")).includes("wiped cache"), "after the first event there is a result");
  await page.goto(base + run);

  // A page that is open is told what happens, also when the server was away.
  await page.goto(base + "/playground");
  await write('[{"_tool": "slow"}, {"_tool": "wipe", "what": "disk"}]');
  await press("Run");
  await page.waitForFunction(() => document.querySelector("#drawing g[data-id=slow]")?.textContent.includes("running"));
  state.offline = true;
  await ask("away");
  await page.waitForFunction(() => !document.getElementById("lost").hidden);
  await shot("lost");
  await ask("back");
  await page.waitForSelector("#lost", { state: "hidden" });
  state.offline = false;

  // What has happened, and is not drawn yet, does not get into the past.
  await page.reload();
  await page.waitForSelector("#drawing g[data-id=slow]");
  const seq = await page.evaluate(() => {
    const frame = requestAnimationFrame;
    window.requestAnimationFrame = f => setTimeout(() => frame(f), 1000);
    return Number(document.querySelector("main[data-run]").dataset.seq);
  });
  await ask("go on");
  await page.waitForFunction(n => Number(document.querySelector("main[data-run]").dataset.seq) > n, seq);
  await page.locator("input[type=range]").focus();
  await page.keyboard.press("Home");
  await page.waitForFunction(() => new URL(location.href).searchParams.get("at"));
  await page.waitForTimeout(1500);
  check((await page.textContent("#drawing g[data-id=slow]")).includes("pending"), "the past shows what happened later: " + await page.textContent("#drawing g[data-id=slow]"));
  await page.goto(base + new URL(page.url()).pathname);
  await page.waitForSelector("#questions article");
  check((await page.textContent("#drawing g[data-id=slow]")).includes("✓ completed"), "the graph does not show what happened while the server was away");

  // Hostile texts stay text; small and dark; nothing runs that is not the server's own.
  await page.emulateMedia({ colorScheme: "dark" });
  for (const path of ["/", "/inbox", "/playground", "/runs/" + hostile, "/runs/" + hostile + "/call?call=wipe-1", run]) {
    for (const width of [360, 1280, 3840]) {
      await page.setViewportSize({ width, height: 800 });
      await page.goto(base + path);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      check(wide <= width, `${path} is ${wide} pixels wide at ${width}`);
    }
    const light = await page.evaluate(() => getComputedStyle(document.body).color);
    check(light === "rgb(255, 255, 255)", `${path} is not dark: text is ${light}`);
    const foreign = await page.evaluate(() => [...document.querySelectorAll("script, iframe, object, embed, svg, [style]")].filter(e => !(e.localName === "script" && e.src.startsWith(location.origin)) && !e.matches("svg.bar, #drawing > svg")).length);
    check(foreign === 0, `${path} has elements that the server did not write`);
    if (path === "/runs/" + hostile) {
      await page.waitForSelector("#drawing svg");
      check(await page.locator("#drawing g[data-status=completed]").count() === 1, "the graph does not know the call with the hostile id");
      const call = await context.request.get(base + await page.locator("tr[data-call] a").first().getAttribute("href"));
      check(call.status() === 200 && (await call.text()).includes("†state.n"), `the call with the hostile id has no page: ${call.status()} ${call.url()}`);
    }
    await page.setViewportSize({ width: 360, height: 800 });
    await shot("small" + path.replace(/[^a-z]+/g, "-"));
  }
  const ran = await page.evaluate(async () => {
    const refused = [];
    addEventListener("securitypolicyviolation", e => refused.push(e.effectiveDirective));
    const s = document.createElement("script");
    try { s.text = "window.ran = true"; } catch { refused.push("trusted types"); }
    document.body.append(s);
    try { document.body.innerHTML = "<b>x</b>"; } catch { refused.push("trusted types"); }
    try { trustedTypes.createPolicy("other", {}); } catch { refused.push("trusted types"); }
    await new Promise(done => setTimeout(done, 0));
    return window.ran === true ? "ran" : refused.join(" ");
  }).catch(e => String(e));
  check(ran.includes("trusted types"), "the policy does not hold: " + ran);
  problems.splice(0, problems.length, ...problems.filter(p => !/^console: .*(TrustedScript|TrustedHTML|Trusted Type|TrustedTypePolicy)/i.test(p)));

  // A form of another site is refused, and so is one without the cookie.
  const other = await context.newPage();
  await other.goto("data:text/html,<form method=post action='" + base + run + "/cancel'><button>x</button></form>");
  const [answer] = await Promise.all([other.waitForResponse(r => r.url().endsWith("/cancel")), other.click("button")]);
  check(answer.status() === 403, "a form of another site: status " + answer.status());
});
