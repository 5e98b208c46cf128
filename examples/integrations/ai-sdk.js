// The AI SDK of Vercel: tools for generateText and streamText.
import { generateText, jsonSchema, stepCountIs, tool } from "ai";
import { instructions, plcTools } from "./plc.js";

export const tools = (client) =>
  Object.fromEntries(plcTools(client).map(({ name, description, parameters, execute }) =>
    [name, tool({ description, inputSchema: jsonSchema(parameters), execute })]));

// ask lets a model answer a question, in 20 turns at most.
export async function ask(model, question, client) {
  const { text } = await generateText({ model, instructions, prompt: question, tools: tools(client), stopWhen: stepCountIs(20) });
  return text;
}
