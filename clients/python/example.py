"""Checks a plan, mends it, runs it, and approves the call that needs a person.

PLC_URL, PLC_AGENT and PLC_PERSON are the server, a token with the role run, and one with approve.
"""

import os

from plc_client import Client, ProblemError, waits

agent = Client(os.environ["PLC_URL"], os.environ["PLC_AGENT"])
person = Client(os.environ["PLC_URL"], os.environ["PLC_PERSON"])

plan = [
    {"_tool": "gret", "name": "†input.name", "_outputPath": "†state.greeting"},
    {"_tool": "book", "text": "†state.greeting", "_outputPath": "†state.number"},
]
for finding in agent.check(plan, input={"name": "Ada"}).findings:
    print(finding.code, finding.message)

plan[0]["_tool"] = "greet"
run = agent.run(plan, input={"name": "Ada"}).run
document = agent.wait(run)
if waits(document):
    for question in person.questions(run):
        print("may", question.tool, "be called with", question.params)
        try:
            agent.approve(question)
        except ProblemError as e:
            print("the agent may not:", e.problem.status)
        person.approve(question)
    document = agent.wait(run)
print(document.summary.status, document.result.state)

for _, event in agent.events(run, after=document.summary.events - 1):
    print(event.type)
