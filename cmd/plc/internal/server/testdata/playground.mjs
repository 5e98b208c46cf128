// Mends a plan in the editor of the playground, by keyboard, and without scripts.
import { base, browser, check, focus, link, main, page, press, problems, shot, write } from "./drive.mjs";

await main(async () => {
  await page.goto(link);
  await page.goto(base + "/playground");
  await write('[{"_tool": "wype", "what": "Ä†𝄞"}]');
  await page.waitForSelector(".cm-lintRange-error");
  check(await page.locator(".cm-lintRange-error").first().textContent() === '"wype"', "another text is underlined: " + await page.locator(".cm-lintRange-error").first().textContent());
  check((await page.textContent("#result")).includes("unknown tool"), "the findings are not beside the editor");
  await page.locator(".cm-content").focus();
  await page.keyboard.press("Control+Home");
  await page.keyboard.press("F8"); // to the finding
  await page.waitForSelector(".cm-tooltip .cm-diagnosticAction");
  await shot("playground-fault");
  await focus("css=button[name=fix]");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.getElementById("plan").elements.plan.value.includes('"wipe"'));
  await page.waitForFunction(() => document.querySelector("#result .effect")?.textContent.includes("wipe"));
  check(await page.locator("#result img").evaluate(i => i.decode().then(() => i.naturalWidth > 0)), "there is no graph");
  check(await page.locator(".cm-lintRange-error").count() === 0, "the finding is still underlined");
  check((await page.evaluate(() => document.getElementById("plan").elements.plan.value)).includes("Ä†𝄞"), "the fix has changed more than it should");
  // A refusal stays when the plan is checked again, which happens as the input is typed.
  await page.click("text=Documents, instances and labels");
  await page.fill("textarea[name=labels]", "cleaners");
  await press("Run");
  await page.waitForSelector(".cm-content");
  await page.fill("textarea[name=input]", "{");
  await page.waitForFunction(() => document.querySelector("#result .error")?.textContent.includes("no JSON object"));
  await page.fill("textarea[name=input]", "{}");
  await page.waitForFunction(() => !document.querySelector("#result .error"));
  check((await page.textContent("main")).includes('"cleaners" is no label'), "the refusal is gone");
  await page.fill("textarea[name=labels]", "team=cleaners");

  // A file of instances is shown, and checked, as if it was typed.
  await write('[{"_tool": "wipe", "what": "†input.what"}]');
  await page.setInputFiles("input[type=file]", { name: "rooms.jsonl", mimeType: "application/jsonl", buffer: Buffer.from('{"what": "attic"}\r\n{"what": "cellar"\n') });
  await page.waitForFunction(() => document.getElementById("result").textContent.includes("instances, line 2"));
  check(await page.inputValue("textarea[name=instances]") === '{"what": "attic"}\n{"what": "cellar"\n', "the lines of the file are not shown");
  await page.fill("textarea[name=instances]", "");
  await write('[\n  {"_tool": "wipe", "what": "Ä†𝄞"}\n]');
  await press("Check and preview");
  check(await page.evaluate(() => document.getElementById("plan").elements.plan.value) === '[\n  {"_tool": "wipe", "what": "Ä†𝄞"}\n]', "a check changes the plan");
  await page.waitForSelector(".cm-content");
  await press("Run");
  check(new URL(page.url()).pathname.startsWith("/runs/"), "it does not run");

  // Without scripts: the same by buttons.
  const cookies = await page.context().cookies();
  const plain = await browser.newContext({ javaScriptEnabled: false });
  await plain.addCookies(cookies);
  const tab = await plain.newPage();
  tab.on("console", m => { if (m.type() === "error" && !m.text().includes("422")) problems.push(`console without scripts: ${m.text()}`); });
  await tab.goto(base + "/playground");
  await tab.fill("textarea[name=plan]", '[\n  {"_tool": "wype",\n    "what": "Ä†"}\n]\n');
  await tab.click("text=Check and preview");
  await tab.click("button[name=fix]");
  check((await tab.inputValue("textarea[name=plan]")) === '[\n  {"_tool": "wipe",\n    "what": "Ä†"}\n]\n', "the fix is another: " + await tab.inputValue("textarea[name=plan]"));
  check((await tab.textContent("#result")).includes("What would happen"), "there is no preview");

  // On a small screen, what is said of the plan has the focus and is on the screen; files work as well.
  await tab.setViewportSize({ width: 360, height: 640 });
  const led = async (what, words) => {
    const there = tab.locator(":focus");
    await there.filter({ hasText: words }).waitFor({ state: "attached", timeout: 5000 }).catch(() => {}); // the page gives it when it is drawn
    check(await there.count() === 1 && (await there.textContent()) === words, `${what}: the focus is not on it`);
    const box = await there.boundingBox();
    check(box && box.y >= 0 && box.y < 600, `${what}: it is not on the screen, but at ${JSON.stringify(box)}`);
  };
  await tab.click("text=Documents, instances and labels");
  await tab.fill("textarea[name=labels]", "cleaners");
  await tab.click("button[value=run]");
  await led("a refused run", 'It was not started: "cleaners" is no label; write one as in team=a');
  await shot("playground-refused-small", tab);
  await tab.fill("textarea[name=labels]", "");
  await tab.fill("textarea[name=plan]", '[{"_tool": "wipe", "what": "†input.what"}]');
  await tab.setInputFiles("input[type=file]", { name: "rooms.jsonl", mimeType: "application/jsonl", buffer: Buffer.from('{"what": "attic"}\n{"what": "cellar"\n') });
  await tab.click("text=Check and preview");
  await led("a faulty file of instances", "Findings");
  check((await tab.inputValue("textarea[name=instances]")).includes("cellar"), "the lines of the file are not in the form");
  await tab.fill("textarea[name=instances]", '{"what": "attic"}');
  await tab.fill("input[name=name]", "spring cleaning");
  await tab.click("button[value=run]");
  await tab.waitForURL(/runs/);
  check((await tab.textContent("main")).includes("<spring cleaning>"), "the run has not the name of its plan");
  check((await tab.locator("#graph").evaluate(i => i.decode().then(() => true))), "there is no graph without scripts");
  await tab.reload();

  // What was refused can be mended where it stands, and sent again.
  await tab.click("text=Change the params");
  await tab.fill("textarea[name=value]", '{"what": 5}');
  await tab.click("text=Approve with these params");
  await led("params that do not fit", await tab.textContent("[role=alert]"));
  check(await tab.inputValue("textarea[name=value]") === '{"what": 5}', "what was typed is lost");
  await tab.fill("textarea[name=value]", '{"what": "loft"}');
  check((await tab.textContent("article")).includes("destroys"), "it does not say what is approved");
  await tab.click("text=Approve with these params");
  await tab.waitForURL(/runs\/[^/]*$/);
  await plain.close();
});
