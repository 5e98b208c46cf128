// Tests against the server of TestTypeScriptClient, in cmd/plc/clients_linux_test.go.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Client, ProblemError, waits } from "./src/index.js";

const { PLC_URL = "", PLC_CUT = "", PLC_AGENT = "", PLC_PERSON = "" } = process.env;
const agent = new Client(PLC_URL, PLC_AGENT);
const person = new Client(PLC_URL, PLC_PERSON);
const cut = new Client(PLC_CUT, PLC_AGENT); // each stream of events is cut in the second one

const greet = { _tool: "greet", name: "Ada", _outputPath: "†state.greeting" };
const book = { _tool: "book", text: "†state.greeting", _outputPath: "†state.number" };

async function problem(status: number, answer: Promise<unknown>): Promise<ProblemError> {
  try {
    await answer;
  } catch (e) {
    assert.ok(e instanceof ProblemError, String(e));
    assert.equal(e.problem.status, status);
    return e;
  }
  assert.fail("no error");
}

test("errors", async () => {
  const { problem: p } = await problem(422, agent.run({ plan: [{ _tool: "gret" }] }));
  const finding = p.findings?.[0];
  assert.deepEqual([finding?.code, finding?.line, finding?.fix?.edits[0]?.text], ["PLC201", 1, '"greet"']);
  await problem(404, agent.document("nothing/../at all?"));
  await problem(400, agent.check({ plan: "" }));
  await problem(401, new Client(PLC_URL, "plc_wrong").document("x"));
  await problem(403, person.run({ plan: [greet] }));
  await problem(502, new Client(PLC_CUT + "/broken", "").document("x"));
});

test("key", async () => {
  const plan = [greet];
  assert.equal((await agent.run({ plan }, "typescript")).run, (await agent.run({ plan }, "typescript")).run);
  await problem(422, agent.run({ plan: [] }, "typescript"));
});

test("refusal", async () => {
  const { run } = await agent.run({ plan: [greet, book] });
  assert.ok(waits(await agent.wait(run)));
  await person.answer((await person.questions(run))[0]!, "refuse", { reason: "not today" });
  const { call, status, by } = (await agent.wait(run)).calls.at(-1)!;
  assert.deepEqual([call, status, by], ["book", "failed", "person"]);
});

test("approval with other params", async () => {
  const { run } = await agent.run({ plan: [greet, book] });
  await agent.wait(run);
  await person.answer((await person.questions(run))[0]!, "approve", { params: { text: "other" } });
  const { summary, calls } = await agent.wait(run);
  assert.deepEqual([summary.status, calls.at(-1)?.params], ["completed", { text: "other" }]);
});

test("events after breaks", async () => {
  const { run } = await cut.run({ plan: [greet, book] });
  const got: number[] = [];
  for await (const [number, event] of cut.events(run)) {
    got.push(number);
    if (event.type === "runPaused") await person.approve((await person.questions(run))[0]!);
  }
  const { events } = (await agent.document(run)).summary;
  assert.deepEqual(got, Array.from({ length: events }, (_, i) => i + 1));
  const rest: number[] = [];
  for await (const [number] of cut.events(run, 4)) rest.push(number);
  assert.deepEqual(rest, got.slice(4));
  assert.equal((await cut.wait(run)).summary.status, "completed");
});

test("timeout", async () => {
  const { run } = await agent.run({ plan: [{ _tool: "nap" }] });
  await assert.rejects(agent.wait(run, AbortSignal.timeout(100)), { name: "TimeoutError" });
  await agent.api.POST("/v1/runs/{run}/cancel", { params: { path: { run } }, body: {} });
  assert.equal((await agent.wait(run)).summary.status, "cancelled");
});

test("preview", async () => {
  const { dryRun } = await agent.preview({ plan: [greet, book] });
  assert.deepEqual(dryRun.calls.map((c) => c.effect), ["reads", "destructive"]);
});
