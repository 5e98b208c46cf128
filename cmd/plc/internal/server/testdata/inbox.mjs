// Answers what waits by keyboard alone. Its arguments are three runs that wait: the first for the
// approval of a call that destroys, the others for two more.
import { args, ask, base, check, context, focus, link, main, open, page, press, shot } from "./drive.mjs";

const [first, second, third] = args;
const article = run => page.locator(`article:has(a[href="/runs/${run}"])`);

await main(async () => {
  await page.goto(link);

  // The difference from what was approved last, and params that are checked as they are typed.
  await page.goto(`${base}/inbox?run=${first}`);
  check((await page.textContent("article")).includes("No call of wipe was approved in the newest 300 runs"), "there is something that was approved before");
  const other = await open(); // whose worker knows the list as it was
  await other.goto(base + "/inbox");
  await other.waitForTimeout(1500);
  await press("Approve");
  check(!await page.waitForSelector("#more", { state: "visible", timeout: 1500 }).catch(() => {}), "the page says that something has changed, and shows what waits now");
  await other.close();
  await ask("finished " + first);
  await page.goto(`${base}/inbox?run=${second}`);
  check(/params differ.*"disk".*"cache"/s.test(await page.textContent("article")), "the inbox shows no difference: " + await page.textContent("article"));
  await focus("Change the params, or give a result instead of calling it");
  await page.keyboard.press("Enter");
  await focus("css=textarea[name=value]");
  await page.keyboard.press("Control+A");
  await page.keyboard.type('{"what": 1}');
  await page.waitForFunction(() => /do not fit/.test(document.querySelector(".tried").textContent));
  await page.keyboard.press("Control+A");
  await page.keyboard.type('{"what": "tape"}');
  await page.waitForFunction(() => document.querySelector(".tried").textContent.startsWith("As params, this fits."));
  check(await page.getByText("Approve without this change").isVisible(), "the button that approves does not say that it leaves the change out");
  await shot("inbox-edit");

  // Enter in the field of a reason refuses, and approves nothing.
  await page.goto(`${base}/inbox?run=${third}`);
  await focus("css=input[name=reason]");
  await page.keyboard.type("not today");
  await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]);
  await ask("finished " + third);
  check((await (await context.request.get(`${base}/runs/${third}`)).text()).includes("not today"), "the reason is not on the page of the run");

  // Several at once, each of which has to be seen to its end before it can be marked.
  const made = (await ask("several")).split(" ");
  await page.setViewportSize({ width: 1280, height: 400 });
  await page.goto(base + "/inbox");
  await page.waitForFunction(() => [...document.querySelectorAll("input[name=question]")].some(m => m.disabled));
  const marks = page.locator("input[name=question]");
  check(await marks.last().isDisabled(), "a question that was not shown can be marked");
  for (const run of made) {
    const mark = article(run).locator("input[name=question]"), top = article(run).locator("h2").first();
    await top.scrollIntoViewIfNeeded();
    await page.waitForFunction(h => h.dataset.seen, await top.elementHandle());
    await mark.scrollIntoViewIfNeeded();
    await page.waitForFunction(m => !m.disabled, await mark.elementHandle());
    await mark.focus();
    await page.keyboard.press("Space");
  }
  await shot("inbox-several");
  await press("Approve the marked ones");
  check((await page.textContent("[role=status] li")).includes("answered: 2 of 2"), "they were not answered");
  for (const run of made) await ask("finished " + run);
  check(await article(second).count() === 1, "what was not marked was answered");

  // What is new while one reads is said, and moves nothing.
  const [late] = (await ask("one")).split(" ");
  await page.waitForSelector("#more", { state: "visible" });
  check(await article(late).count() === 0, "the page has moved under the reader's hands");

  // Where nothing waits, it comes by itself, and what was answered is still said.
  for (const run of [second, late]) {
    await page.goto(base + "/inbox");
    await article(run).locator("input[name=reason]").focus();
    await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]);
    await ask("finished " + run);
  }
  await page.waitForSelector("text=Nothing waits.");
  const [next] = (await ask("one")).split(" ");
  await article(next).waitFor();
  check((await page.textContent("[role=status] li")).includes(late), "the page does not say any more what was answered");
  await article(next).locator("summary").first().click();
  await article(next).locator("textarea").fill('{"what": 1}');
  await page.waitForFunction(() => /do not fit/.test(document.querySelector(".tried").textContent));
});
