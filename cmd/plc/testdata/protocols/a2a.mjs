// Runs plans as tasks of A2A with the client of its SDK for JavaScript.
import { pathToFileURL } from "node:url";
import assert from "node:assert/strict";

const at = (file) => pathToFileURL(process.env.PACKAGES + "/node_modules/@a2a-js/sdk/dist/" + file).href;
const { TaskState, Role } = await import(at("index.js"));
const { ClientFactory, ClientFactoryOptions, JsonRpcTransportFactory, DefaultAgentCardResolver } = await import(at("client/index.js"));
const { PLC_URL, PLC_AGENT, PLC_PERSON } = process.env;

// client returns the client of who has a token.
async function client(token) {
  const fetchImpl = (url, init) => {
    const headers = new Headers(init?.headers);
    headers.set("Authorization", "Bearer " + token);
    return fetch(url, { ...init, headers });
  };
  const factory = new ClientFactory(
    ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
      transports: [new JsonRpcTransportFactory({ fetchImpl })],
      cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
    }),
  );
  return factory.createFromUrl(PLC_URL);
}

let sent = 0;
function message(data, taskId = "") {
  const content = typeof data === "string" ? { $case: "text", value: data } : { $case: "data", value: data };
  const parts = [{ content, metadata: undefined, filename: "", mediaType: "" }];
  return {
    tenant: "", metadata: undefined, configuration: undefined,
    message: { messageId: `m${++sent}`, contextId: "", taskId, role: Role.ROLE_USER, parts, metadata: undefined, extensions: [], referenceTaskIds: [] },
  };
}
const plan = [
  { _tool: "greet", name: "Ada", _outputPath: "†state.greeting" },
  { _tool: "book", text: "†state.greeting", _outputPath: "†state.number" },
];
const agent = await client(PLC_AGENT);
const person = await client(PLC_PERSON);

// taskOf returns the task of an answer.
const taskOf = (answer) => answer.payload?.value ?? answer;

// A task waits for a person, who answers; the agent may not.
const task = taskOf(await agent.sendMessage(message({ plan })));
assert.equal(task.status.state, TaskState.TASK_STATE_INPUT_REQUIRED);
const [question] = task.status.message.parts[0].content.value.questions;
const decision = { call: question.call, digest: question.digest, decision: "approve" };
await assert.rejects(agent.sendMessage(message(decision, task.id)), /role approve/);
const states = [];
let artifact;
for await (const event of person.sendMessageStream(message(decision, task.id))) {
  const { $case, value } = event.payload ?? event;
  if ($case === "artifactUpdate") artifact = value.artifact;
  else states.push(value.status.state);
}
assert.equal(states.at(-1), TaskState.TASK_STATE_COMPLETED);
assert.equal(artifact.parts[0].content.value.state.greeting, "Hello, Ada!");
const done = await agent.getTask({ tenant: "", id: task.id });
assert.equal(done.status.state, TaskState.TASK_STATE_COMPLETED);
assert.equal(done.artifacts[0].parts[0].content.value.state.number, artifact.parts[0].content.value.state.number);

// A plan as text, which is streamed from its start.
const seen = [];
for await (const event of agent.sendMessageStream(message('[{"_tool": "greet", "name": "Bob"}]'))) seen.push((event.payload ?? event).$case);
assert.equal(seen[0], "task");

// One that goes on is cancelled, and one that has ended is not.
const request = message({ plan: [{ _tool: "nap" }] });
request.configuration = { acceptedOutputModes: [], returnImmediately: true, taskPushNotificationConfig: undefined };
const nap = taskOf(await agent.sendMessage(request));
const watched = (async () => {
  const all = [];
  for await (const event of agent.resubscribeTask({ tenant: "", id: nap.id })) all.push((event.payload ?? event).value.status.state);
  return all;
})();
await new Promise((resolve) => setTimeout(resolve, 300));
const ended = await agent.cancelTask({ tenant: "", id: nap.id, metadata: undefined });
assert.equal(ended.status.state, TaskState.TASK_STATE_CANCELED);
assert.equal((await watched).at(-1), TaskState.TASK_STATE_CANCELED);
await assert.rejects(agent.cancelTask({ tenant: "", id: nap.id, metadata: undefined }), (e) => /cancel/i.test(e.name + e.message));
await assert.rejects(agent.getTask({ tenant: "", id: "nothing" }), (e) => /no such task|not ?found/i.test(e.name + e.message));
await assert.rejects(agent.sendMessage(message('[{"_tool": "gret"}]')), /PLC|tool|plan/);
console.log(states.length, "states");
