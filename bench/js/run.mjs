// Runs graphs in Node, for the program of the folder above: a line of JSON in, a line out.
// In: {"system", "needs": [[node, …], …], "sleep": [ms, …] or null}, or {"system":
// "mastra preflight", "calls": n}. Out: {"build": ms, "run": ms, "error": "…"}.
import { createInterface } from "node:readline";
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { createStep, createWorkflow } from "@mastra/core/workflows";
import { preflightWorkflowDefinition } from "@mastra/core/workflows/builder";
import { z } from "zod";

const text = JSON.stringify({ city: "Rome", zip: "00100" });

// Work is one run: what each node does, and whether it was right to.
class Work {
  constructor(shape) {
    this.shape = shape;
    this.done = new Uint8Array(shape.needs.length);
    this.wrong = "";
  }

  async do(node, given) {
    const needs = this.shape.needs[node];
    if (given.length !== needs.length) this.fault(`node ${node} was given ${given.length} values, and needs ${needs.length}`);
    for (const v of given) if (JSON.stringify(v) !== text) this.fault(`node ${node} was given ${JSON.stringify(v)}`);
    for (const n of needs) if (!this.done[n]) this.fault(`node ${node} ran before node ${n}, which it needs`);
    if (this.shape.sleep) await new Promise((wake) => setTimeout(wake, this.shape.sleep[node]));
    if (this.done[node]++) this.fault(`node ${node} ran twice`);
    return given.length ? given[0] : JSON.parse(text);
  }

  fault(s) {
    this.wrong ||= s;
  }

  check(result) {
    const left = this.done.indexOf(0);
    if (left >= 0) this.fault(`node ${left} did not run`);
    if (JSON.stringify(result) !== text) this.fault(`the result is ${JSON.stringify(result)}`);
    if (this.wrong) throw new Error(this.wrong);
  }
}

// langgraph makes a shape ready to run: each node adds its value to the values of all.
function langgraph(shape) {
  const state = Annotation.Root({
    values: Annotation({ reducer: (a, b) => Object.assign(a, b), default: () => ({}) }),
  });
  let work;
  const graph = new StateGraph(state);
  shape.needs.forEach((needs, i) =>
    graph.addNode(`n${i}`, async ({ values }) => ({ values: { [i]: await work.do(i, needs.map((n) => values[n])) } })),
  );
  shape.needs.forEach((needs, i) => graph.addEdge(needs.length ? needs.map((n) => `n${n}`) : START, `n${i}`));
  const last = shape.needs.length - 1;
  graph.addEdge(`n${last}`, END);
  const app = graph.compile();
  return async (w) => {
    work = w;
    const out = await app.invoke({ values: {} }, { recursionLimit: shape.needs.length + 10 });
    return out.values[last];
  };
}

// mastra makes a shape ready to run, in waves: a workflow of it is a list of steps, some of which
// stand beside each other.
function mastra(shape) {
  const level = [], waves = [];
  shape.needs.forEach((needs, i) => {
    level[i] = needs.length ? 1 + Math.max(...needs.map((n) => level[n])) : 0;
    (waves[level[i]] ||= []).push(i);
  });
  const value = z.object({ city: z.string(), zip: z.string() });
  let work;
  let workflow = createWorkflow({ id: "graph", inputSchema: z.object({}), outputSchema: z.any() });
  waves.forEach((wave, l) => {
    const alone = l > 0 && waves[l - 1].length === 1;
    const steps = wave.map((i) =>
      createStep({
        id: `n${i}`,
        inputSchema: l === 0 ? z.object({}) : alone ? value : z.object(Object.fromEntries(waves[l - 1].map((n) => [`n${n}`, value]))),
        outputSchema: value,
        execute: ({ inputData, getStepResult }) =>
          work.do(i, shape.needs[i].map((n) => (level[n] < l - 1 ? getStepResult(`n${n}`) : alone ? inputData : inputData[`n${n}`]))),
      }),
    );
    workflow = steps.length === 1 ? workflow.then(steps[0]) : workflow.parallel(steps);
  });
  workflow.commit();
  return async (w) => {
    work = w;
    const run = await workflow.createRun();
    const out = await run.start({ inputData: {} });
    if (out.status !== "success") throw new Error(`${out.status}: ${out.error}`);
    return out.result;
  };
}

// preflight checks a chain of calls, each of which takes a number of the result of the one before.
function preflight(calls) {
  const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
  const graph = [{ type: "tool", id: "s0", toolId: "t" }];
  for (let i = 1; i < calls; i++) {
    graph.push({ type: "mapping", id: `m${i}`, mapConfig: JSON.stringify({ n: { step: `s${i - 1}`, path: "n" } }) });
    graph.push({ type: "tool", id: `s${i}`, toolId: "t" });
  }
  const definition = { id: "plan", inputSchema: schema, outputSchema: schema, graph };
  const context = { tools: { t: { inputSchema: schema, outputSchema: schema } } };
  return () => preflightWorkflowDefinition(definition, context);
}

const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];

async function measure({ system, least, calls, ...shape }) {
  const times = [];
  if (system === "mastra preflight") {
    const check = preflight(calls);
    for (const begin = performance.now(); !times.length || performance.now() - begin < least; ) {
      const start = performance.now();
      const found = check();
      times.push(performance.now() - start);
      if (!found.ok) throw new Error(JSON.stringify(found.issues[0]));
    }
    return { build: 0, run: median(times) };
  }
  const start = performance.now();
  const run = { langgraph, mastra }[system](shape);
  const build = performance.now() - start;
  for (const begin = performance.now(); !times.length || performance.now() - begin < least; ) {
    const work = new Work(shape), start = performance.now();
    const result = await run(work);
    times.push(performance.now() - start);
    work.check(result);
  }
  return { build, run: median(times) };
}

for await (const line of createInterface({ input: process.stdin })) {
  const answer = await measure(JSON.parse(line)).catch((e) => ({ error: e.stack ?? String(e) }));
  process.stdout.write(JSON.stringify(answer) + "\n");
}
