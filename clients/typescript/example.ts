// Checks a plan, mends it, runs it, and approves the call that needs a person. PLC_URL, PLC_AGENT
// and PLC_PERSON are the server, a token with the role run, and one with approve.
import { Client, ProblemError, waits } from "./src/index.js"; // "plc-client" elsewhere

const { PLC_URL = "", PLC_AGENT = "", PLC_PERSON = "" } = process.env;
const agent = new Client(PLC_URL, PLC_AGENT);
const person = new Client(PLC_URL, PLC_PERSON);

const greet = { _tool: "gret", name: "†input.name", _outputPath: "†state.greeting" };
const book = { _tool: "book", text: "†state.greeting", _outputPath: "†state.number" };
const planned = { plan: [greet, book], input: { name: "Ada" } };
for (const finding of (await agent.check(planned)).findings) {
  console.log(finding.code, finding.message);
}

greet._tool = "greet";
const { run } = await agent.run(planned);
let document = await agent.wait(run);
if (waits(document)) {
  for (const question of await person.questions(run)) {
    console.log("may", question.tool, "be called with", question.params);
    try {
      await agent.approve(question);
    } catch (e) {
      if (!(e instanceof ProblemError)) throw e;
      console.log("the agent may not:", e.problem.status);
    }
    await person.approve(question);
  }
  document = await agent.wait(run);
}
console.log(document.summary.status, document.result.state);

for await (const [, event] of agent.events(run, document.summary.events - 1)) {
  console.log(event.type);
}
