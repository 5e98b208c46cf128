// Runs a plan over AG-UI with the client of the protocol, which checks the order of events, and checks
// each event against the schemas of @ag-ui/core.
import { createRequire } from "node:module";
import assert from "node:assert/strict";

const require = createRequire(process.env.PACKAGES + "/");
const { HttpAgent } = require("@ag-ui/client");
const { EventSchemas } = require("@ag-ui/core/schemas");
const { PLC_URL, PLC_AGENT, PLC_PERSON } = process.env;
const url = PLC_URL + "/v1/agui";

// run does one run of AG-UI, and returns the agent and its events.
async function run(token, threadId, parameters) {
  const events = [];
  const agent = new HttpAgent({ url, headers: { Authorization: "Bearer " + token }, threadId });
  await agent.runAgent(parameters, { onEvent: ({ event }) => void events.push(event) });
  for (const event of events) EventSchemas.parse(event);
  return { agent, events };
}

// post sends a request by itself, and returns its status.
async function post(token, body) {
  const headers = { Authorization: "Bearer " + token, "Content-Type": "application/json" };
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  await answer.body.cancel();
  return answer.status;
}

const plan = [
  { _tool: "greet", name: "Ada", _outputPath: "†state.greeting" },
  { _tool: "book", text: "†state.greeting", _outputPath: "†state.number" },
];
const { events, agent } = await run(PLC_AGENT, "t1", { runId: "r1", forwardedProps: { plan } });
const kinds = events.map((e) => e.type);
assert.equal(kinds[0], "RUN_STARTED");
assert.ok(kinds.includes("TOOL_CALL_START") && kinds.includes("TOOL_CALL_RESULT"), kinds.join());
const end = events.at(-1);
assert.equal(end.type, "RUN_FINISHED");
assert.equal(end.outcome.type, "interrupt");
assert.equal(end.outcome.interrupts[0].toolCallId, "book");
assert.equal(agent.state.state.greeting, "Hello, Ada!");

// The same run again is not started again.
const again = await run(PLC_AGENT, "t1", { runId: "r1", forwardedProps: { plan } });
assert.deepEqual(again.events, events);

// A person answers, in a run that goes on with the thread.
const resume = [{ interruptId: end.outcome.interrupts[0].id, status: "resolved", payload: { decision: "approve" } }];
assert.equal(await post(PLC_AGENT, { threadId: "t1", runId: "r3", messages: [], resume }), 403);
const { agent: person, events: more } = await run(PLC_PERSON, "t1", { runId: "r2", resume });
assert.equal(more.at(-1).type, "RUN_FINISHED");
assert.equal(more.at(-1).outcome.type, "success");
assert.equal(more.at(-1).threadId, "t1");
assert.equal(person.state.state.number, 1);
assert.equal(await post(PLC_PERSON, { threadId: "t1", runId: "r4", messages: [], resume }), 409);

// The plan may be a message, and one with errors is refused.
const messages = [{ id: "m", role: "user", content: '[{"_tool": "gret"}]' }];
assert.equal(await post(PLC_AGENT, { threadId: "t2", runId: "r1", messages }), 422);
console.log(`${events.length + more.length} events`);
