// The OpenAI Agents SDK: tools for an Agent.
import { Agent, Runner, tool } from "@openai/agents";
import { instructions, plcTools } from "./plc.js";

export const tools = (client) => plcTools(client).map((t) => tool({ ...t, strict: false }));

// ask lets a model answer a question, in 20 turns at most. Without tracingDisabled, the SDK sends what
// happens to OpenAI.
export async function ask(model, question, client) {
  const agent = new Agent({ name: "planner", instructions, model, tools: tools(client) });
  const { finalOutput } = await new Runner({ tracingDisabled: true }).run(agent, question, { maxTurns: 20 });
  return finalOutput;
}
