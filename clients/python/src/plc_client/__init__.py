"""A client of plc serve, which checks, runs and approves the plans of AI agents.

The classes of what the server answers are in plc_client.models, which is generated.
"""

import json
import time
from collections.abc import Iterator, Mapping
from email.message import Message
from http.client import HTTPException, HTTPResponse
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import HTTPRedirectHandler, Request, build_opener

from .models import Checked, Document, Event, Previewed, Problem, Question, Questions, Summary

__all__ = ["Client", "ProblemError", "waits"]


class ProblemError(Exception):
    """An answer of the server that is an error; its problem has the findings of a plan."""

    def __init__(self, problem: Problem, headers: Message) -> None:
        super().__init__(f"{problem.status} {problem.title}: {problem.detail}")
        self.problem, self.retry_after = problem, headers["Retry-After"]


class _NoRedirect(HTTPRedirectHandler):  # urllib would send the token to the other host as well
    def redirect_request(self, req: Any, fp: Any, code: Any, msg: Any, headers: Any, newurl: Any) -> None:
        return None


def waits(document: Document) -> bool:
    """Reports whether a run waits for a person."""
    s = document.summary
    return s.waits_for_plan or s.status == "paused" and s.questions > 0


class Client:
    """Calls a server with a token. The timeout is how many seconds a request may be silent."""

    def __init__(self, url: str, token: str, timeout: float = 60) -> None:
        self._url, self._token, self._timeout = url.rstrip("/"), token, timeout
        self._opener = build_opener(_NoRedirect)

    def open(self, method: str, path: str, body: Any = None, headers: Mapping[str, str] = {}, timeout: float = 0) -> HTTPResponse:
        """Sends a request and returns the answer, to be read and closed. Errors are ProblemErrors."""
        headers = {"Authorization": "Bearer " + self._token, "Content-Type": "application/json", **headers}
        request = Request(self._url + path, None if body is None else json.dumps(body).encode(), headers, method=method)
        try:
            return self._opener.open(request, timeout=timeout or self._timeout)
        except HTTPError as e:
            with e:
                text = e.read()
            if e.headers.get_content_type() == "application/problem+json":
                problem = Problem.from_dict(json.loads(text))
            else:
                problem = Problem(text[:200].decode(errors="replace"), e.code, e.reason, "about:blank")
            raise ProblemError(problem, e.headers) from None

    def send(self, method: str, path: str, body: Any = None, headers: Mapping[str, str] = {}) -> Any:
        """Sends a request and returns the JSON of the answer: for what has no method here."""
        with self.open(method, path, body, headers) as answer:
            return json.loads(answer.read() or "null")

    def check(self, plan: Any, **given: Any) -> Checked:
        """Checks a plan, a text or JSON, for what is given: input, state, instances, notation."""
        return Checked.from_dict(self.send("POST", "/v1/check", {"plan": plan, **given}))

    def preview(self, plan: Any, **given: Any) -> Previewed:
        """Says what a plan would do; nothing runs."""
        return Previewed.from_dict(self.send("POST", "/v1/plan", {"plan": plan, **given}))

    def run(self, plan: Any, key: str = "", **given: Any) -> Summary:
        """Starts a run. A second request with the same key returns the run of the first."""
        return Summary.from_dict(self.send("POST", "/v1/runs", {"plan": plan, **given}, {"Idempotency-Key": key} if key else {}))

    def document(self, run: str) -> Document:
        """Returns all that is known of a run."""
        return Document.from_dict(self.send("GET", "/v1/runs/" + quote(run, "")))

    def wait(self, run: str, timeout: float = float("inf")) -> Document:
        """Waits until a run has ended or waits for a person. After so many seconds: TimeoutError."""
        end = time.monotonic() + timeout
        while not waits(document := self.document(run)):
            for _, event in self.events(run, document.summary.events, end - time.monotonic()):
                if event.type == "runPaused":
                    break
            else:
                return self.document(run)
        return document

    def events(self, run: str, after: int = 0, timeout: float = float("inf")) -> Iterator[tuple[int, Event]]:
        """Yields the events of a run behind a number, each with its own, until the run has ended.

        A connection that breaks is made again, without a gap or a repetition, and given up after ten
        failures in a row. After so many seconds in all: TimeoutError.
        """
        end, failures = time.monotonic() + timeout, 0
        while True:
            error: Exception = ConnectionError("the server ends the stream of events")
            left = max(min(self._timeout, end - time.monotonic()), 0.001)
            try:
                with self.open("GET", f"/v1/runs/{quote(run, '')}/events", None, {"Last-Event-ID": str(after)}, left) as stream:
                    if stream.status == 204:
                        return
                    number, data = after, b""
                    for line in stream:
                        name, _, value = line.rstrip(b"\r\n").partition(b": ")
                        if name == b"id":
                            number = int(value)
                        elif name == b"data":
                            data = value
                        elif line == b"\n" and data:  # an event is whole only now
                            after, failures = number, 0
                            yield number, Event.from_dict(json.loads(data))
                            data = b""
                        if time.monotonic() > end:
                            break
            except ProblemError as e:
                if e.problem.status < 500:
                    raise
                error = e
            except (OSError, HTTPException) as e:
                error = e
            failures += 1
            if time.monotonic() >= end:
                raise TimeoutError(f"the run {run} goes on") from error
            if failures > 10:
                raise error
            time.sleep(min(0.01 * 3**failures, 5))

    def questions(self, run: str) -> list[Question]:
        """Returns what a run asks a person."""
        return Questions.from_dict(self.send("GET", f"/v1/runs/{quote(run, '')}/questions")).questions

    def answer(self, question: Question, decision: str, **more: Any) -> None:
        """Answers approve (with other params), refuse or skip (with a reason), answer (with a result)."""
        body = {"instance": question.instance, "call": question.call, "digest": question.digest, "decision": decision, **more}
        self.send("POST", f"/v1/runs/{quote(question.run, '')}/answers", body)

    def approve(self, question: Question) -> None:
        """Approves the call of a question, as the question shows it."""
        self.answer(question, "approve")
