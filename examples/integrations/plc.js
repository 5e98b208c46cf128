// What a model is given in place of its tools: six that are named as those of plc mcp, and work on a
// plc serve. None approves anything, and a token with the role run can't.
import { ProblemError, waits } from "plc-client";

export const instructions = `plc runs plans: lists of tool calls that refer to each other's results.
Write one plan instead of calling tools one by one. search_tools shows what plans may call. check
reports every fault; correct the plan until "ok" is true. run runs it. A run that waits for a person
goes on when somebody has answered: tell your user what waits. You can't answer.

A call: {"_tool": "search", "query": "†input.topic", "_outputPath": "†state.hits"}. Members with an
underscore are for plc, the others are params. "†state.hits[0].url" reads what a call wrote. A plan is
{"calls": [...], "output": {"answer": "†state.summary"}}; its output is what you get.`;

const most = 8192; // characters of a value that are sent to the model at once

const string = { type: "string" };
const wait = { type: "number", description: "seconds to wait for the end, at most 300" };
const planned = {
  plan: { type: "object", additionalProperties: true, description: "calls and output" },
  input: { type: "object", additionalProperties: true, description: "what the plan reads as †input" },
};

// plcTools returns the tools, each with its name, description, parameters and execute.
export function plcTools(client) {
  const given = ({ plan, input }) => ({ plan, notation: "llm", ...(input && { input }) });
  const until = async (run, seconds) => {
    try {
      return await client.wait(run, AbortSignal.timeout(Math.min(seconds, 300) * 1000));
    } catch (e) {
      if (e.name !== "TimeoutError") throw e;
      return client.document(run);
    }
  };
  const told = async (document) => {
    const { run, status, reason } = document.summary;
    if (!waits(document)) return { run, status, reason, output: view(document.result.output) };
    const waiting = (await client.questions(run)).map((q) => ({ tool: q.tool, params: q.params }));
    return { run, status, waiting, answer: `a person answers in the server's inbox, or with plc approve ${run}` };
  };
  const tools = [
    define("search_tools", "Finds tools that plans may call; with names, shows their schemas.",
      { query: string, names: { type: "array", items: string } }, [], async ({ query = "", names }) => {
        const { data } = await client.api.GET("/v1/catalogue");
        const words = query.toLowerCase().split(/\s+/);
        const text = (t) => `${t.name} ${t.description}`.toLowerCase();
        if (names?.length) return data.tools.filter((t) => names.includes(t.name));
        return data.tools.filter((t) => words.some((w) => text(t).includes(w))).map(({ definition, ...brief }) => brief);
      }),
    define("check", "Checks a plan and runs nothing.", planned, ["plan"], async (p) => {
      const { ok, findings } = await client.check(given(p));
      return { ok, findings: findings.map(line) };
    }),
    define("preview", "Shows what a plan would do, and runs nothing.", planned, ["plan"], async (p) => {
      const { dryRun, forecast } = await client.preview(given(p));
      return { effects: forecast.effects, calls: dryRun.calls.map(({ call, tool, effect, approval }) => ({ call, tool, effect, approval })) };
    }),
    define("run", "Checks a plan and runs it until it ends, waits for a person, or wait seconds (20) are over.",
      { ...planned, wait }, ["plan"], async (p) => told(await until((await client.run(given(p))).run, p.wait ?? 20))),
    define("status", "Tells how far a run is, after wait seconds (0) at most.",
      { run: string, wait }, ["run"], async (p) => told(p.wait ? await until(p.run, p.wait) : await client.document(p.run))),
    define("result", "Gives a part of the output of a run by its JSON Pointer.",
      { run: string, path: string }, ["run"], async ({ run, path = "" }) => {
        const keys = path.split("/").slice(1).map((k) => k.replaceAll("~1", "/").replaceAll("~0", "~"));
        return view(keys.reduce((v, k) => v?.[k], (await client.document(run)).result.output));
      }),
  ];
  return tools;
}

// define returns a tool that gives the model a text. What the server refuses is told, not thrown.
function define(name, description, properties, required, f) {
  const execute = async (params) => {
    try {
      return JSON.stringify(await f(params ?? {}));
    } catch (e) {
      if (!(e instanceof ProblemError)) throw e;
      return JSON.stringify({ error: e.problem.detail, findings: e.problem.findings?.map(line) });
    }
  };
  return { name, description, parameters: { type: "object", properties, required, additionalProperties: true }, execute };
}

// line shows a finding: a plan that came as JSON has no lines, so its place is a JSON Pointer.
const line = (f) => `${f.severity} ${f.code} at ${f.pointer || "/"}: ${f.message}` + (f.fix ? `; fix: ${f.fix.message}` : "");

// view shows a value, or of a large one the names of its parts.
function view(value = null) {
  const size = JSON.stringify(value).length;
  if (size <= most) return value;
  return typeof value === "string" ? { size, start: value.slice(0, most) } : { size, parts: Object.keys(value).slice(0, 100) };
}
