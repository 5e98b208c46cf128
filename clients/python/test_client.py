"""Tests against the server of TestPythonClient, in cmd/plc/clients_linux_test.go."""

import os
import unittest

from plc_client import Client, ProblemError, waits

agent = Client(os.environ["PLC_URL"], os.environ["PLC_AGENT"])
person = Client(os.environ["PLC_URL"], os.environ["PLC_PERSON"])
cut = Client(os.environ["PLC_CUT"], os.environ["PLC_AGENT"])  # each stream of events is cut in the second one

greet = {"_tool": "greet", "name": "Ada", "_outputPath": "†state.greeting"}
book = {"_tool": "book", "text": "†state.greeting", "_outputPath": "†state.number"}


class TestClient(unittest.TestCase):
    def problem(self, status: int, f: object, *args: object) -> ProblemError:
        assert callable(f)
        with self.assertRaises(ProblemError) as raised:
            f(*args)
        self.assertEqual(raised.exception.problem.status, status)
        return raised.exception

    def test_errors(self) -> None:
        e = self.problem(422, agent.run, [{"_tool": "gret"}])
        finding = (e.problem.findings or [])[0]
        self.assertEqual((finding.code, finding.line, finding.column), ("PLC201", 1, 12))
        assert finding.fix is not None
        self.assertEqual(finding.fix.edits[0].text, '"greet"')
        self.problem(404, agent.document, "nothing/../at all?")
        self.problem(400, agent.check, "")
        self.problem(401, Client(os.environ["PLC_URL"], "plc_wrong").document, "x")
        self.problem(403, person.run, [greet])
        self.problem(404, list, agent.events("nothing"))
        self.problem(502, Client(os.environ["PLC_CUT"] + "/broken", "").document, "x")

    def test_values_are_exact(self) -> None:
        document = agent.wait(agent.run([{"_tool": "big", "_outputPath": "†state.n"}]).run)
        self.assertEqual(document.result.state, {"n": 9007199254740993})

    def test_key(self) -> None:
        self.assertEqual(agent.run([greet], "python").run, agent.run([greet], "python").run)
        self.problem(422, agent.run, [], "python")

    def test_refusal(self) -> None:
        run = agent.run([greet, book]).run
        self.assertTrue(waits(agent.wait(run)))
        person.answer(person.questions(run)[0], "refuse", reason="not today")
        call = agent.wait(run).calls[-1]
        self.assertEqual((call.call, call.status, call.by), ("book", "failed", "person"))

    def test_approval_with_other_params(self) -> None:
        run = agent.run([greet, book]).run
        agent.wait(run)
        person.answer(person.questions(run)[0], "approve", params={"text": "other"})
        document = agent.wait(run)
        self.assertEqual((document.summary.status, document.calls[-1].params), ("completed", {"text": "other"}))

    def test_events_after_breaks(self) -> None:
        run = cut.run([greet, book]).run
        events = cut.events(run)
        got: list[int] = []
        for number, event in events:
            got.append(number)
            if event.type == "runPaused":
                person.approve(person.questions(run)[0])
        self.assertEqual(got, list(range(1, agent.document(run).summary.events + 1)))
        self.assertEqual([n for n, _ in cut.events(run, 4)], got[4:])
        self.assertEqual(cut.wait(run).summary.status, "completed")

    def test_timeout(self) -> None:
        run = agent.run([{"_tool": "nap"}]).run
        with self.assertRaises(TimeoutError):
            agent.wait(run, 0.1)
        agent.send("POST", f"/v1/runs/{run}/cancel", {})
        self.assertEqual(agent.wait(run).summary.status, "cancelled")

    def test_preview(self) -> None:
        previewed = agent.preview([greet, book])
        self.assertEqual([c.effect for c in previewed.dry_run.calls], ["reads", "destructive"])


if __name__ == "__main__":
    unittest.main()
