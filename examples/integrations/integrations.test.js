// Each integration with the real library and a stand-in model, against the server of
// TestIntegrations, in cmd/plc/clients_linux_test.go.
import assert from "node:assert/strict";
import { test } from "node:test";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage } from "@langchain/core/messages";
import { Usage } from "@openai/agents";
import { MockLanguageModelV4 } from "ai/test";
import { Client, ProblemError } from "plc-client";
import * as aiSDK from "./ai-sdk.js";
import * as langChain from "./langchain.js";
import * as openAIAgents from "./openai-agents.js";
import { plcTools } from "./plc.js";

const { PLC_URL, PLC_AGENT, PLC_PERSON } = process.env;
const client = new Client(PLC_URL, PLC_AGENT);
const person = new Client(PLC_URL, PLC_PERSON);

const greet = (tool) => ({ _tool: tool, name: "†input.name", _outputPath: "†state.greeting" });
const book = { _tool: "book", text: "†state.greeting", _outputPath: "†state.number" };
const given = (...calls) => ({ plan: { calls, output: { said: "†state.greeting" } }, input: { name: "Ada" } });

// corrects is a model that searches, sends a plan with a misspelt tool, corrects it as the finding
// says, and answers with the output. The results are what it has got so far.
function corrects(results) {
  const last = results.length ? JSON.parse(results.at(-1)) : null;
  switch (results.length) {
    case 0: return { tool: "search_tools", params: { query: "greets" } };
    case 1: return { tool: "run", params: given(greet(last[0].name.replace("ee", "e"))) };
    case 2: return { tool: "check", params: given(greet(/did you mean "(\w+)"/.exec(last.findings[0])[1])) };
    case 3: return { tool: "run", params: given(greet(last.ok && "greet")) };
    case 4: return { tool: "result", params: { run: last.run, path: "/said" } };
    default: return { text: last };
  }
}

// wantsMore is a model whose plan has a call that needs a person. It looks what becomes of the run.
function wantsMore(results) {
  const last = results.length ? JSON.parse(results.at(-1)) : null;
  switch (results.length) {
    case 0: return { tool: "preview", params: given(greet("greet"), book) };
    case 1: return { tool: "run", params: given(greet("greet"), book) };
    case 2: return { tool: "status", params: { run: last.run, wait: 1 } };
    default: return { text: results.at(-1) };
  }
}

class StandIn extends BaseChatModel {
  constructor(next) {
    super({});
    this.next = next;
  }
  _llmType() { return "stand-in"; }
  bindTools(tools) {
    this.tools = tools;
    return this;
  }
  async _generate(messages) {
    const { tool, params, text = "" } = this.next(messages.filter((m) => m.type === "tool").map((m) => m.content));
    const tool_calls = tool ? [{ id: `call-${messages.length}`, name: tool, args: params, type: "tool_call" }] : [];
    return { generations: [{ text, message: new AIMessage({ content: text, tool_calls }) }] };
  }
}

const usage = { inputTokens: { total: 0 }, outputTokens: { total: 0 } };
const frameworks = {
  "LangChain": { ask: langChain.ask, model: (next) => new StandIn(next) },
  "AI SDK": {
    ask: aiSDK.ask,
    model: (next) => new MockLanguageModelV4({
      doGenerate: async ({ prompt }) => {
        const results = prompt.filter((m) => m.role === "tool").flatMap((m) => m.content.map((c) => c.output.value));
        const { tool, params, text } = next(results);
        const content = tool ? { type: "tool-call", toolCallId: `call-${results.length}`, toolName: tool, input: JSON.stringify(params) } : { type: "text", text };
        return { content: [content], finishReason: { unified: tool ? "tool-calls" : "stop" }, usage, warnings: [] };
      },
    }),
  },
  "OpenAI Agents SDK": {
    ask: openAIAgents.ask,
    model: (next) => ({
      async getResponse({ input }) {
        const results = input.filter((i) => i.type === "function_call_result").map((i) => i.output.text ?? i.output);
        const { tool, params, text } = next(results);
        const output = tool
          ? { type: "function_call", callId: `call-${results.length}`, name: tool, arguments: JSON.stringify(params), status: "completed" }
          : { type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text }] };
        return { usage: new Usage(), output: [output] };
      },
    }),
  },
};

for (const [name, { ask, model }] of Object.entries(frameworks)) {
  test(`${name}: a plan with a fault is corrected and gives its output`, async () => {
    let seen;
    const answer = await ask(model((results) => corrects((seen = results))), "Greet Ada.", client);
    assert.equal(answer, "Hello, Ada!");
    const [, refused, checked, ran] = seen.map((r) => JSON.parse(r));
    assert.match(refused.findings[0], /^error PLC201 at \/calls\/0\/_tool: unknown tool "gret"/);
    assert.deepEqual(checked, { ok: true, findings: [] });
    assert.deepEqual([ran.status, ran.output], ["completed", { said: "Hello, Ada!" }]);
  });

  test(`${name}: a run waits for a person, and nobody else can answer`, async () => {
    const { run, status, waiting } = JSON.parse(await ask(model(wantsMore), "Book something.", client));
    assert.deepEqual([status, waiting], ["paused", [{ tool: "book", params: { text: "Hello, Ada!" } }]]);
    const [question] = await client.questions(run);
    await assert.rejects(client.approve(question), (e) => e instanceof ProblemError && e.problem.status === 403);
    await person.approve(question);
    assert.equal((await client.wait(run)).summary.status, "completed");
  });
}

test("no tool approves", () => {
  assert.deepEqual(plcTools(client).map((t) => t.name), ["search_tools", "check", "preview", "run", "status", "result"]);
});
