// LangChain: tools for any model that calls tools, and the loop around it.
import { HumanMessage, SystemMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { instructions, plcTools } from "./plc.js";

export const tools = (client) =>
  plcTools(client).map(({ name, description, parameters, execute }) => tool(execute, { name, description, schema: parameters }));

// ask lets a model answer a question, in 20 turns at most.
export async function ask(model, question, client) {
  const all = tools(client);
  const bound = model.bindTools(all);
  const messages = [new SystemMessage(instructions), new HumanMessage(question)];
  for (let turn = 0; turn < 20; turn++) {
    const answer = await bound.invoke(messages);
    messages.push(answer);
    if (!answer.tool_calls?.length) return answer.text;
    for (const call of answer.tool_calls) {
      messages.push(await all.find((t) => t.name === call.name).invoke(call));
    }
  }
  throw new Error("the model does not come to an end");
}
