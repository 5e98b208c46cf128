"""The schemas of the API of plc serve. Made by clients/generate with quicktype; do not change them."""

from dataclasses import dataclass
from typing import Any, TypeVar, Callable, Type, cast
from enum import Enum


T = TypeVar("T")
EnumT = TypeVar("EnumT", bound=Enum)


def from_int(x: Any) -> int:
    assert isinstance(x, int) and not isinstance(x, bool)
    return x


def from_str(x: Any) -> str:
    assert isinstance(x, str)
    return x


def from_list(f: Callable[[Any], T], x: Any) -> list[T]:
    assert isinstance(x, list)
    return [f(y) for y in x]


def to_class(c: Type[T], x: Any) -> dict:
    assert isinstance(x, c)
    return cast(Any, x).to_dict()


def from_none(x: Any) -> Any:
    assert x is None
    return x


def from_union(fs, x):
    for f in fs:
        try:
            return f(x)
        except:
            pass
    assert False


def from_dict(f: Callable[[Any], T], x: Any) -> dict[str, T]:
    assert isinstance(x, dict)
    return { k: f(v) for (k, v) in x.items() }


def from_bool(x: Any) -> bool:
    assert isinstance(x, bool)
    return x


def to_enum(c: Type[EnumT], x: Any) -> EnumT:
    assert isinstance(x, c)
    return x.value


def from_float(x: Any) -> float:
    assert isinstance(x, (float, int)) and not isinstance(x, bool)
    return float(x)


def to_float(x: Any) -> float:
    assert isinstance(x, (int, float))
    return x


@dataclass
class Edit:
    end_offset: int
    offset: int
    text: str

    @staticmethod
    def from_dict(obj: Any) -> 'Edit':
        assert isinstance(obj, dict)
        end_offset = from_int(obj.get("endOffset"))
        offset = from_int(obj.get("offset"))
        text = from_str(obj.get("text"))
        return Edit(end_offset, offset, text)

    def to_dict(self) -> dict:
        result: dict = {}
        result["endOffset"] = from_int(self.end_offset)
        result["offset"] = from_int(self.offset)
        result["text"] = from_str(self.text)
        return result


@dataclass
class Fix:
    edits: list[Edit]
    message: str

    @staticmethod
    def from_dict(obj: Any) -> 'Fix':
        assert isinstance(obj, dict)
        edits = from_list(Edit.from_dict, obj.get("edits"))
        message = from_str(obj.get("message"))
        return Fix(edits, message)

    def to_dict(self) -> dict:
        result: dict = {}
        result["edits"] = from_list(lambda x: to_class(Edit, x), self.edits)
        result["message"] = from_str(self.message)
        return result


@dataclass
class Note:
    message: str
    column: int | None = None
    end_offset: int | None = None
    file: str | None = None
    line: int | None = None
    offset: int | None = None

    @staticmethod
    def from_dict(obj: Any) -> 'Note':
        assert isinstance(obj, dict)
        message = from_str(obj.get("message"))
        column = from_union([from_int, from_none], obj.get("column"))
        end_offset = from_union([from_int, from_none], obj.get("endOffset"))
        file = from_union([from_str, from_none], obj.get("file"))
        line = from_union([from_int, from_none], obj.get("line"))
        offset = from_union([from_int, from_none], obj.get("offset"))
        return Note(message, column, end_offset, file, line, offset)

    def to_dict(self) -> dict:
        result: dict = {}
        result["message"] = from_str(self.message)
        if self.column is not None:
            result["column"] = from_union([from_int, from_none], self.column)
        if self.end_offset is not None:
            result["endOffset"] = from_union([from_int, from_none], self.end_offset)
        if self.file is not None:
            result["file"] = from_union([from_str, from_none], self.file)
        if self.line is not None:
            result["line"] = from_union([from_int, from_none], self.line)
        if self.offset is not None:
            result["offset"] = from_union([from_int, from_none], self.offset)
        return result


@dataclass
class Finding:
    code: str
    message: str
    related: list[Note]
    severity: str
    call: str | None = None
    column: int | None = None
    end_offset: int | None = None
    file: str | None = None
    fix: Fix | None = None
    line: int | None = None
    offset: int | None = None
    pointer: str | None = None
    workflow: str | None = None

    @staticmethod
    def from_dict(obj: Any) -> 'Finding':
        assert isinstance(obj, dict)
        code = from_str(obj.get("code"))
        message = from_str(obj.get("message"))
        related = from_list(Note.from_dict, obj.get("related"))
        severity = from_str(obj.get("severity"))
        call = from_union([from_str, from_none], obj.get("call"))
        column = from_union([from_int, from_none], obj.get("column"))
        end_offset = from_union([from_int, from_none], obj.get("endOffset"))
        file = from_union([from_str, from_none], obj.get("file"))
        fix = from_union([from_none, Fix.from_dict], obj.get("fix"))
        line = from_union([from_int, from_none], obj.get("line"))
        offset = from_union([from_int, from_none], obj.get("offset"))
        pointer = from_union([from_str, from_none], obj.get("pointer"))
        workflow = from_union([from_str, from_none], obj.get("workflow"))
        return Finding(code, message, related, severity, call, column, end_offset, file, fix, line, offset, pointer, workflow)

    def to_dict(self) -> dict:
        result: dict = {}
        result["code"] = from_str(self.code)
        result["message"] = from_str(self.message)
        result["related"] = from_list(lambda x: to_class(Note, x), self.related)
        result["severity"] = from_str(self.severity)
        if self.call is not None:
            result["call"] = from_union([from_str, from_none], self.call)
        if self.column is not None:
            result["column"] = from_union([from_int, from_none], self.column)
        if self.end_offset is not None:
            result["endOffset"] = from_union([from_int, from_none], self.end_offset)
        if self.file is not None:
            result["file"] = from_union([from_str, from_none], self.file)
        result["fix"] = from_union([from_none, lambda x: to_class(Fix, x)], self.fix)
        if self.line is not None:
            result["line"] = from_union([from_int, from_none], self.line)
        if self.offset is not None:
            result["offset"] = from_union([from_int, from_none], self.offset)
        if self.pointer is not None:
            result["pointer"] = from_union([from_str, from_none], self.pointer)
        if self.workflow is not None:
            result["workflow"] = from_union([from_str, from_none], self.workflow)
        return result


@dataclass
class Problem:
    detail: str
    status: int
    title: str
    type: str
    findings: list[Finding] | None = None

    @staticmethod
    def from_dict(obj: Any) -> 'Problem':
        assert isinstance(obj, dict)
        detail = from_str(obj.get("detail"))
        status = from_int(obj.get("status"))
        title = from_str(obj.get("title"))
        type = from_str(obj.get("type"))
        findings = from_union([lambda x: from_list(Finding.from_dict, x), from_none], obj.get("findings"))
        return Problem(detail, status, title, type, findings)

    def to_dict(self) -> dict:
        result: dict = {}
        result["detail"] = from_str(self.detail)
        result["status"] = from_int(self.status)
        result["title"] = from_str(self.title)
        result["type"] = from_str(self.type)
        if self.findings is not None:
            result["findings"] = from_union([lambda x: from_list(lambda x: to_class(Finding, x), x), from_none], self.findings)
        return result


@dataclass
class Planned:
    plan: list[Any] | dict[str, Any] | str
    """the plan as a text, or as JSON"""

    documents: dict[str, list[Any] | dict[str, Any] | str] | None = None
    """the plans that _delegate names: each a text, or JSON"""

    input: dict[str, Any] | None = None
    instances: str | None = None
    """a JSON object per line; the plan runs once for each"""

    labels: dict[str, str] | None = None
    name: str | None = None
    """what people call the plan; lists show it as <name>. A run without one is named after the
    tools that it calls
    """
    notation: str | None = None
    state: dict[str, Any] | None = None
    upload: str | None = None
    """the id of an upload with the instances, in place of them"""

    @staticmethod
    def from_dict(obj: Any) -> 'Planned':
        assert isinstance(obj, dict)
        plan = from_union([lambda x: from_list(lambda x: x, x), lambda x: from_dict(lambda x: x, x), from_str], obj.get("plan"))
        documents = from_union([lambda x: from_dict(lambda x: from_union([lambda x: from_list(lambda x: x, x), lambda x: from_dict(lambda x: x, x), from_str], x), x), from_none], obj.get("documents"))
        input = from_union([lambda x: from_dict(lambda x: x, x), from_none], obj.get("input"))
        instances = from_union([from_str, from_none], obj.get("instances"))
        labels = from_union([lambda x: from_dict(from_str, x), from_none], obj.get("labels"))
        name = from_union([from_str, from_none], obj.get("name"))
        notation = from_union([from_str, from_none], obj.get("notation"))
        state = from_union([lambda x: from_dict(lambda x: x, x), from_none], obj.get("state"))
        upload = from_union([from_str, from_none], obj.get("upload"))
        return Planned(plan, documents, input, instances, labels, name, notation, state, upload)

    def to_dict(self) -> dict:
        result: dict = {}
        result["plan"] = from_union([lambda x: from_list(lambda x: x, x), lambda x: from_dict(lambda x: x, x), from_str], self.plan)
        if self.documents is not None:
            result["documents"] = from_union([lambda x: from_dict(lambda x: from_union([lambda x: from_list(lambda x: x, x), lambda x: from_dict(lambda x: x, x), from_str], x), x), from_none], self.documents)
        if self.input is not None:
            result["input"] = from_union([lambda x: from_dict(lambda x: x, x), from_none], self.input)
        if self.instances is not None:
            result["instances"] = from_union([from_str, from_none], self.instances)
        if self.labels is not None:
            result["labels"] = from_union([lambda x: from_dict(from_str, x), from_none], self.labels)
        if self.name is not None:
            result["name"] = from_union([from_str, from_none], self.name)
        if self.notation is not None:
            result["notation"] = from_union([from_str, from_none], self.notation)
        if self.state is not None:
            result["state"] = from_union([lambda x: from_dict(lambda x: x, x), from_none], self.state)
        if self.upload is not None:
            result["upload"] = from_union([from_str, from_none], self.upload)
        return result


@dataclass
class Checked:
    findings: list[Finding]
    ok: bool

    @staticmethod
    def from_dict(obj: Any) -> 'Checked':
        assert isinstance(obj, dict)
        findings = from_list(Finding.from_dict, obj.get("findings"))
        ok = from_bool(obj.get("ok"))
        return Checked(findings, ok)

    def to_dict(self) -> dict:
        result: dict = {}
        result["findings"] = from_list(lambda x: to_class(Finding, x), self.findings)
        result["ok"] = from_bool(self.ok)
        return result


@dataclass
class DryCall:
    call: str
    effect: str
    possible: bool
    status: str
    tool: str
    approval: str | None = None
    covered: bool | None = None
    instance: str | None = None
    params: Any = None
    """any JSON value"""

    reason: str | None = None
    result: Any = None
    """any JSON value"""

    target: str | None = None

    @staticmethod
    def from_dict(obj: Any) -> 'DryCall':
        assert isinstance(obj, dict)
        call = from_str(obj.get("call"))
        effect = from_str(obj.get("effect"))
        possible = from_bool(obj.get("possible"))
        status = from_str(obj.get("status"))
        tool = from_str(obj.get("tool"))
        approval = from_union([from_str, from_none], obj.get("approval"))
        covered = from_union([from_bool, from_none], obj.get("covered"))
        instance = from_union([from_str, from_none], obj.get("instance"))
        params = obj.get("params")
        reason = from_union([from_str, from_none], obj.get("reason"))
        result = obj.get("result")
        target = from_union([from_str, from_none], obj.get("target"))
        return DryCall(call, effect, possible, status, tool, approval, covered, instance, params, reason, result, target)

    def to_dict(self) -> dict:
        result: dict = {}
        result["call"] = from_str(self.call)
        result["effect"] = from_str(self.effect)
        result["possible"] = from_bool(self.possible)
        result["status"] = from_str(self.status)
        result["tool"] = from_str(self.tool)
        if self.approval is not None:
            result["approval"] = from_union([from_str, from_none], self.approval)
        if self.covered is not None:
            result["covered"] = from_union([from_bool, from_none], self.covered)
        if self.instance is not None:
            result["instance"] = from_union([from_str, from_none], self.instance)
        result["params"] = self.params
        if self.reason is not None:
            result["reason"] = from_union([from_str, from_none], self.reason)
        result["result"] = self.result
        if self.target is not None:
            result["target"] = from_union([from_str, from_none], self.target)
        return result


@dataclass
class DryRun:
    calls: list[DryCall]
    status: str
    output: Any = None
    """any JSON value"""

    output_mark: str | None = None
    reason: str | None = None

    @staticmethod
    def from_dict(obj: Any) -> 'DryRun':
        assert isinstance(obj, dict)
        calls = from_list(DryCall.from_dict, obj.get("calls"))
        status = from_str(obj.get("status"))
        output = obj.get("output")
        output_mark = from_union([from_str, from_none], obj.get("outputMark"))
        reason = from_union([from_str, from_none], obj.get("reason"))
        return DryRun(calls, status, output, output_mark, reason)

    def to_dict(self) -> dict:
        result: dict = {}
        result["calls"] = from_list(lambda x: to_class(DryCall, x), self.calls)
        result["status"] = from_str(self.status)
        result["output"] = self.output
        if self.output_mark is not None:
            result["outputMark"] = from_union([from_str, from_none], self.output_mark)
        if self.reason is not None:
            result["reason"] = from_union([from_str, from_none], self.reason)
        return result


@dataclass
class Previewed:
    digest: str
    dry_run: DryRun
    findings: list[Finding]
    forecast: dict[str, Any]

    @staticmethod
    def from_dict(obj: Any) -> 'Previewed':
        assert isinstance(obj, dict)
        digest = from_str(obj.get("digest"))
        dry_run = DryRun.from_dict(obj.get("dryRun"))
        findings = from_list(Finding.from_dict, obj.get("findings"))
        forecast = from_dict(lambda x: x, obj.get("forecast"))
        return Previewed(digest, dry_run, findings, forecast)

    def to_dict(self) -> dict:
        result: dict = {}
        result["digest"] = from_str(self.digest)
        result["dryRun"] = to_class(DryRun, self.dry_run)
        result["findings"] = from_list(lambda x: to_class(Finding, x), self.findings)
        result["forecast"] = from_dict(lambda x: x, self.forecast)
        return result


@dataclass
class Summary:
    by: str
    calls: dict[str, int]
    created: str
    events: int
    finished: str
    labels: dict[str, str]
    parent: str
    plan: str
    questions: int
    reason: str
    run: str
    status: str
    waits_for_plan: bool

    @staticmethod
    def from_dict(obj: Any) -> 'Summary':
        assert isinstance(obj, dict)
        by = from_str(obj.get("by"))
        calls = from_dict(from_int, obj.get("calls"))
        created = from_str(obj.get("created"))
        events = from_int(obj.get("events"))
        finished = from_str(obj.get("finished"))
        labels = from_dict(from_str, obj.get("labels"))
        parent = from_str(obj.get("parent"))
        plan = from_str(obj.get("plan"))
        questions = from_int(obj.get("questions"))
        reason = from_str(obj.get("reason"))
        run = from_str(obj.get("run"))
        status = from_str(obj.get("status"))
        waits_for_plan = from_bool(obj.get("waitsForPlan"))
        return Summary(by, calls, created, events, finished, labels, parent, plan, questions, reason, run, status, waits_for_plan)

    def to_dict(self) -> dict:
        result: dict = {}
        result["by"] = from_str(self.by)
        result["calls"] = from_dict(from_int, self.calls)
        result["created"] = from_str(self.created)
        result["events"] = from_int(self.events)
        result["finished"] = from_str(self.finished)
        result["labels"] = from_dict(from_str, self.labels)
        result["parent"] = from_str(self.parent)
        result["plan"] = from_str(self.plan)
        result["questions"] = from_int(self.questions)
        result["reason"] = from_str(self.reason)
        result["run"] = from_str(self.run)
        result["status"] = from_str(self.status)
        result["waitsForPlan"] = from_bool(self.waits_for_plan)
        return result


@dataclass
class Runs:
    next: str
    """pass it as from for the next page; empty on the last one"""

    runs: list[Summary]

    @staticmethod
    def from_dict(obj: Any) -> 'Runs':
        assert isinstance(obj, dict)
        next = from_str(obj.get("next"))
        runs = from_list(Summary.from_dict, obj.get("runs"))
        return Runs(next, runs)

    def to_dict(self) -> dict:
        result: dict = {}
        result["next"] = from_str(self.next)
        result["runs"] = from_list(lambda x: to_class(Summary, x), self.runs)
        return result


@dataclass
class Failure:
    code: str
    message: str

    @staticmethod
    def from_dict(obj: Any) -> 'Failure':
        assert isinstance(obj, dict)
        code = from_str(obj.get("code"))
        message = from_str(obj.get("message"))
        return Failure(code, message)

    def to_dict(self) -> dict:
        result: dict = {}
        result["code"] = from_str(self.code)
        result["message"] = from_str(self.message)
        return result


@dataclass
class Write:
    method: str
    path: str
    seq: int
    value: Any = None
    """any JSON value"""

    @staticmethod
    def from_dict(obj: Any) -> 'Write':
        assert isinstance(obj, dict)
        method = from_str(obj.get("method"))
        path = from_str(obj.get("path"))
        seq = from_int(obj.get("seq"))
        value = obj.get("value")
        return Write(method, path, seq, value)

    def to_dict(self) -> dict:
        result: dict = {}
        result["method"] = from_str(self.method)
        result["path"] = from_str(self.path)
        result["seq"] = from_int(self.seq)
        result["value"] = self.value
        return result


@dataclass
class Call:
    attempts: int
    by: str
    call: str
    ended: str
    instance: str
    reason: str
    started: str
    status: str
    tool: str
    writes: list[Write]
    error: Failure | None = None
    params: Any = None
    """any JSON value"""

    result: Any = None
    """any JSON value"""

    @staticmethod
    def from_dict(obj: Any) -> 'Call':
        assert isinstance(obj, dict)
        attempts = from_int(obj.get("attempts"))
        by = from_str(obj.get("by"))
        call = from_str(obj.get("call"))
        ended = from_str(obj.get("ended"))
        instance = from_str(obj.get("instance"))
        reason = from_str(obj.get("reason"))
        started = from_str(obj.get("started"))
        status = from_str(obj.get("status"))
        tool = from_str(obj.get("tool"))
        writes = from_list(Write.from_dict, obj.get("writes"))
        error = from_union([from_none, Failure.from_dict], obj.get("error"))
        params = obj.get("params")
        result = obj.get("result")
        return Call(attempts, by, call, ended, instance, reason, started, status, tool, writes, error, params, result)

    def to_dict(self) -> dict:
        result: dict = {}
        result["attempts"] = from_int(self.attempts)
        result["by"] = from_str(self.by)
        result["call"] = from_str(self.call)
        result["ended"] = from_str(self.ended)
        result["instance"] = from_str(self.instance)
        result["reason"] = from_str(self.reason)
        result["started"] = from_str(self.started)
        result["status"] = from_str(self.status)
        result["tool"] = from_str(self.tool)
        result["writes"] = from_list(lambda x: to_class(Write, x), self.writes)
        result["error"] = from_union([from_none, lambda x: to_class(Failure, x)], self.error)
        result["params"] = self.params
        result["result"] = self.result
        return result


@dataclass
class CallResult:
    attempts: int
    handled: bool
    id: str
    status: str
    tool: str
    delegate: str | None = None
    ended_at: str | None = None
    error: Failure | None = None
    instance: str | None = None
    outcome: str | None = None
    reason: str | None = None
    started_at: str | None = None

    @staticmethod
    def from_dict(obj: Any) -> 'CallResult':
        assert isinstance(obj, dict)
        attempts = from_int(obj.get("attempts"))
        handled = from_bool(obj.get("handled"))
        id = from_str(obj.get("id"))
        status = from_str(obj.get("status"))
        tool = from_str(obj.get("tool"))
        delegate = from_union([from_str, from_none], obj.get("delegate"))
        ended_at = from_union([from_none, from_str], obj.get("endedAt"))
        error = from_union([from_none, Failure.from_dict], obj.get("error"))
        instance = from_union([from_str, from_none], obj.get("instance"))
        outcome = from_union([from_none, from_str], obj.get("outcome"))
        reason = from_union([from_none, from_str], obj.get("reason"))
        started_at = from_union([from_none, from_str], obj.get("startedAt"))
        return CallResult(attempts, handled, id, status, tool, delegate, ended_at, error, instance, outcome, reason, started_at)

    def to_dict(self) -> dict:
        result: dict = {}
        result["attempts"] = from_int(self.attempts)
        result["handled"] = from_bool(self.handled)
        result["id"] = from_str(self.id)
        result["status"] = from_str(self.status)
        result["tool"] = from_str(self.tool)
        if self.delegate is not None:
            result["delegate"] = from_union([from_str, from_none], self.delegate)
        result["endedAt"] = from_union([from_none, from_str], self.ended_at)
        result["error"] = from_union([from_none, lambda x: to_class(Failure, x)], self.error)
        if self.instance is not None:
            result["instance"] = from_union([from_str, from_none], self.instance)
        result["outcome"] = from_union([from_none, from_str], self.outcome)
        result["reason"] = from_union([from_none, from_str], self.reason)
        result["startedAt"] = from_union([from_none, from_str], self.started_at)
        return result


@dataclass
class Result:
    calls: list[CallResult]
    findings: list[Finding]
    run: str
    status: str
    data: Any = None
    """any JSON value"""

    output: Any = None
    """any JSON value"""

    reason: str | None = None
    state: Any = None
    """any JSON value"""

    @staticmethod
    def from_dict(obj: Any) -> 'Result':
        assert isinstance(obj, dict)
        calls = from_list(CallResult.from_dict, obj.get("calls"))
        findings = from_list(Finding.from_dict, obj.get("findings"))
        run = from_str(obj.get("run"))
        status = from_str(obj.get("status"))
        data = obj.get("data")
        output = obj.get("output")
        reason = from_union([from_str, from_none], obj.get("reason"))
        state = obj.get("state")
        return Result(calls, findings, run, status, data, output, reason, state)

    def to_dict(self) -> dict:
        result: dict = {}
        result["calls"] = from_list(lambda x: to_class(CallResult, x), self.calls)
        result["findings"] = from_list(lambda x: to_class(Finding, x), self.findings)
        result["run"] = from_str(self.run)
        result["status"] = from_str(self.status)
        result["data"] = self.data
        result["output"] = self.output
        if self.reason is not None:
            result["reason"] = from_union([from_str, from_none], self.reason)
        result["state"] = self.state
        return result


@dataclass
class Document:
    calls: list[Call]
    result: Result
    summary: Summary

    @staticmethod
    def from_dict(obj: Any) -> 'Document':
        assert isinstance(obj, dict)
        calls = from_list(Call.from_dict, obj.get("calls"))
        result = Result.from_dict(obj.get("result"))
        summary = Summary.from_dict(obj.get("summary"))
        return Document(calls, result, summary)

    def to_dict(self) -> dict:
        result: dict = {}
        result["calls"] = from_list(lambda x: to_class(Call, x), self.calls)
        result["result"] = to_class(Result, self.result)
        result["summary"] = to_class(Summary, self.summary)
        return result


@dataclass
class Board:
    at: int
    whiteboard: dict[str, Any]

    @staticmethod
    def from_dict(obj: Any) -> 'Board':
        assert isinstance(obj, dict)
        at = from_int(obj.get("at"))
        whiteboard = from_dict(lambda x: x, obj.get("whiteboard"))
        return Board(at, whiteboard)

    def to_dict(self) -> dict:
        result: dict = {}
        result["at"] = from_int(self.at)
        result["whiteboard"] = from_dict(lambda x: x, self.whiteboard)
        return result


@dataclass
class Terms:
    tool: str
    answered: int | None = None
    asks: str | None = None
    breaks: list[str] | None = None
    fallback: 'Terms | None' = None
    identity: str | None = None
    origin: str | None = None
    params: Any = None
    """any JSON value"""

    retries: int | None = None
    scopes: Any = None
    """any JSON value"""

    target: str | None = None
    timeout: str | None = None

    @staticmethod
    def from_dict(obj: Any) -> 'Terms':
        assert isinstance(obj, dict)
        tool = from_str(obj.get("tool"))
        answered = from_union([from_int, from_none], obj.get("answered"))
        asks = from_union([from_str, from_none], obj.get("asks"))
        breaks = from_union([lambda x: from_list(from_str, x), from_none], obj.get("breaks"))
        fallback = from_union([Terms.from_dict, from_none], obj.get("fallback"))
        identity = from_union([from_str, from_none], obj.get("identity"))
        origin = from_union([from_str, from_none], obj.get("origin"))
        params = obj.get("params")
        retries = from_union([from_int, from_none], obj.get("retries"))
        scopes = obj.get("scopes")
        target = from_union([from_str, from_none], obj.get("target"))
        timeout = from_union([from_str, from_none], obj.get("timeout"))
        return Terms(tool, answered, asks, breaks, fallback, identity, origin, params, retries, scopes, target, timeout)

    def to_dict(self) -> dict:
        result: dict = {}
        result["tool"] = from_str(self.tool)
        if self.answered is not None:
            result["answered"] = from_union([from_int, from_none], self.answered)
        if self.asks is not None:
            result["asks"] = from_union([from_str, from_none], self.asks)
        if self.breaks is not None:
            result["breaks"] = from_union([lambda x: from_list(from_str, x), from_none], self.breaks)
        if self.fallback is not None:
            result["fallback"] = from_union([lambda x: to_class(Terms, x), from_none], self.fallback)
        if self.identity is not None:
            result["identity"] = from_union([from_str, from_none], self.identity)
        if self.origin is not None:
            result["origin"] = from_union([from_str, from_none], self.origin)
        result["params"] = self.params
        if self.retries is not None:
            result["retries"] = from_union([from_int, from_none], self.retries)
        if self.scopes is not None:
            result["scopes"] = self.scopes
        if self.target is not None:
            result["target"] = from_union([from_str, from_none], self.target)
        if self.timeout is not None:
            result["timeout"] = from_union([from_str, from_none], self.timeout)
        return result


@dataclass
class Question:
    asked: str
    call: str
    digest: str
    instance: str
    kind: str
    reason: str
    run: str
    tool: str
    failure: Failure | None = None
    params: Any = None
    """any JSON value"""

    terms: Terms | None = None

    @staticmethod
    def from_dict(obj: Any) -> 'Question':
        assert isinstance(obj, dict)
        asked = from_str(obj.get("asked"))
        call = from_str(obj.get("call"))
        digest = from_str(obj.get("digest"))
        instance = from_str(obj.get("instance"))
        kind = from_str(obj.get("kind"))
        reason = from_str(obj.get("reason"))
        run = from_str(obj.get("run"))
        tool = from_str(obj.get("tool"))
        failure = from_union([from_none, Failure.from_dict], obj.get("failure"))
        params = obj.get("params")
        terms = from_union([from_none, Terms.from_dict], obj.get("terms"))
        return Question(asked, call, digest, instance, kind, reason, run, tool, failure, params, terms)

    def to_dict(self) -> dict:
        result: dict = {}
        result["asked"] = from_str(self.asked)
        result["call"] = from_str(self.call)
        result["digest"] = from_str(self.digest)
        result["instance"] = from_str(self.instance)
        result["kind"] = from_str(self.kind)
        result["reason"] = from_str(self.reason)
        result["run"] = from_str(self.run)
        result["tool"] = from_str(self.tool)
        result["failure"] = from_union([from_none, lambda x: to_class(Failure, x)], self.failure)
        result["params"] = self.params
        result["terms"] = from_union([from_none, lambda x: to_class(Terms, x)], self.terms)
        return result


@dataclass
class Questions:
    questions: list[Question]

    @staticmethod
    def from_dict(obj: Any) -> 'Questions':
        assert isinstance(obj, dict)
        questions = from_list(Question.from_dict, obj.get("questions"))
        return Questions(questions)

    def to_dict(self) -> dict:
        result: dict = {}
        result["questions"] = from_list(lambda x: to_class(Question, x), self.questions)
        return result


class DecisionEnum(Enum):
    ANSWER = "answer"
    APPROVE = "approve"
    REFUSE = "refuse"
    SKIP = "skip"


@dataclass
class Decision:
    decision: DecisionEnum
    digest: str
    """of what was shown"""

    call: str | None = None
    instance: str | None = None
    params: Any = None
    """any JSON value"""

    reason: str | None = None
    result: Any = None
    """any JSON value"""

    @staticmethod
    def from_dict(obj: Any) -> 'Decision':
        assert isinstance(obj, dict)
        decision = DecisionEnum(obj.get("decision"))
        digest = from_str(obj.get("digest"))
        call = from_union([from_str, from_none], obj.get("call"))
        instance = from_union([from_str, from_none], obj.get("instance"))
        params = obj.get("params")
        reason = from_union([from_str, from_none], obj.get("reason"))
        result = obj.get("result")
        return Decision(decision, digest, call, instance, params, reason, result)

    def to_dict(self) -> dict:
        result: dict = {}
        result["decision"] = to_enum(DecisionEnum, self.decision)
        result["digest"] = from_str(self.digest)
        if self.call is not None:
            result["call"] = from_union([from_str, from_none], self.call)
        if self.instance is not None:
            result["instance"] = from_union([from_str, from_none], self.instance)
        if self.params is not None:
            result["params"] = self.params
        if self.reason is not None:
            result["reason"] = from_union([from_str, from_none], self.reason)
        if self.result is not None:
            result["result"] = self.result
        return result


@dataclass
class Tool:
    description: str
    name: str
    signature: str
    definition: Any = None
    """any JSON value"""

    @staticmethod
    def from_dict(obj: Any) -> 'Tool':
        assert isinstance(obj, dict)
        description = from_str(obj.get("description"))
        name = from_str(obj.get("name"))
        signature = from_str(obj.get("signature"))
        definition = obj.get("definition")
        return Tool(description, name, signature, definition)

    def to_dict(self) -> dict:
        result: dict = {}
        result["description"] = from_str(self.description)
        result["name"] = from_str(self.name)
        result["signature"] = from_str(self.signature)
        result["definition"] = self.definition
        return result


@dataclass
class Tools:
    tools: list[Tool]

    @staticmethod
    def from_dict(obj: Any) -> 'Tools':
        assert isinstance(obj, dict)
        tools = from_list(Tool.from_dict, obj.get("tools"))
        return Tools(tools)

    def to_dict(self) -> dict:
        result: dict = {}
        result["tools"] = from_list(lambda x: to_class(Tool, x), self.tools)
        return result


@dataclass
class Code:
    code: str
    summary: str
    text: str

    @staticmethod
    def from_dict(obj: Any) -> 'Code':
        assert isinstance(obj, dict)
        code = from_str(obj.get("code"))
        summary = from_str(obj.get("summary"))
        text = from_str(obj.get("text"))
        return Code(code, summary, text)

    def to_dict(self) -> dict:
        result: dict = {}
        result["code"] = from_str(self.code)
        result["summary"] = from_str(self.summary)
        result["text"] = from_str(self.text)
        return result


@dataclass
class Cancel:
    reason: str | None = None

    @staticmethod
    def from_dict(obj: Any) -> 'Cancel':
        assert isinstance(obj, dict)
        reason = from_union([from_str, from_none], obj.get("reason"))
        return Cancel(reason)

    def to_dict(self) -> dict:
        result: dict = {}
        if self.reason is not None:
            result["reason"] = from_union([from_str, from_none], self.reason)
        return result


@dataclass
class Fork:
    at: str
    instance: str | None = None
    set: dict[str, Any] | None = None

    @staticmethod
    def from_dict(obj: Any) -> 'Fork':
        assert isinstance(obj, dict)
        at = from_str(obj.get("at"))
        instance = from_union([from_str, from_none], obj.get("instance"))
        set = from_union([lambda x: from_dict(lambda x: x, x), from_none], obj.get("set"))
        return Fork(at, instance, set)

    def to_dict(self) -> dict:
        result: dict = {}
        result["at"] = from_str(self.at)
        if self.instance is not None:
            result["instance"] = from_union([from_str, from_none], self.instance)
        if self.set is not None:
            result["set"] = from_union([lambda x: from_dict(lambda x: x, x), from_none], self.set)
        return result


@dataclass
class Replayed:
    digest: str
    recorded: str
    same: bool
    status: str

    @staticmethod
    def from_dict(obj: Any) -> 'Replayed':
        assert isinstance(obj, dict)
        digest = from_str(obj.get("digest"))
        recorded = from_str(obj.get("recorded"))
        same = from_bool(obj.get("same"))
        status = from_str(obj.get("status"))
        return Replayed(digest, recorded, same, status)

    def to_dict(self) -> dict:
        result: dict = {}
        result["digest"] = from_str(self.digest)
        result["recorded"] = from_str(self.recorded)
        result["same"] = from_bool(self.same)
        result["status"] = from_str(self.status)
        return result


@dataclass
class Event:
    """what each data line of the stream of events holds"""

    run: str
    time: str
    type: str
    activity: str | None = None
    answer: dict[str, Any] | None = None
    applied: bool | None = None
    asked: Terms | None = None
    attempt: int | None = None
    by: str | None = None
    cached: bool | None = None
    call: str | None = None
    content: str | None = None
    delay: int | None = None
    """nanoseconds"""

    digest: str | None = None
    error: Failure | None = None
    fallback: bool | None = None
    instance: str | None = None
    intent: dict[str, Any] | None = None
    key: str | None = None
    lost: bool | None = None
    method: str | None = None
    outcome: str | None = None
    path: str | None = None
    permanent: bool | None = None
    progress: dict[str, Any] | None = None
    question: str | None = None
    reason: str | None = None
    replayed: bool | None = None
    revision: int | None = None
    status: str | None = None
    tool: str | None = None
    undoes: bool | None = None
    usage: dict[str, Any] | None = None
    value: Any = None
    """any JSON value"""

    work: str | None = None

    @staticmethod
    def from_dict(obj: Any) -> 'Event':
        assert isinstance(obj, dict)
        run = from_str(obj.get("run"))
        time = from_str(obj.get("time"))
        type = from_str(obj.get("type"))
        activity = from_union([from_str, from_none], obj.get("activity"))
        answer = from_union([lambda x: from_dict(lambda x: x, x), from_none], obj.get("answer"))
        applied = from_union([from_bool, from_none], obj.get("applied"))
        asked = from_union([from_none, Terms.from_dict], obj.get("asked"))
        attempt = from_union([from_int, from_none], obj.get("attempt"))
        by = from_union([from_str, from_none], obj.get("by"))
        cached = from_union([from_bool, from_none], obj.get("cached"))
        call = from_union([from_str, from_none], obj.get("call"))
        content = from_union([from_str, from_none], obj.get("content"))
        delay = from_union([from_int, from_none], obj.get("delay"))
        digest = from_union([from_str, from_none], obj.get("digest"))
        error = from_union([from_none, Failure.from_dict], obj.get("error"))
        fallback = from_union([from_bool, from_none], obj.get("fallback"))
        instance = from_union([from_str, from_none], obj.get("instance"))
        intent = from_union([lambda x: from_dict(lambda x: x, x), from_none], obj.get("intent"))
        key = from_union([from_str, from_none], obj.get("key"))
        lost = from_union([from_bool, from_none], obj.get("lost"))
        method = from_union([from_str, from_none], obj.get("method"))
        outcome = from_union([from_str, from_none], obj.get("outcome"))
        path = from_union([from_str, from_none], obj.get("path"))
        permanent = from_union([from_bool, from_none], obj.get("permanent"))
        progress = from_union([lambda x: from_dict(lambda x: x, x), from_none], obj.get("progress"))
        question = from_union([from_str, from_none], obj.get("question"))
        reason = from_union([from_str, from_none], obj.get("reason"))
        replayed = from_union([from_bool, from_none], obj.get("replayed"))
        revision = from_union([from_int, from_none], obj.get("revision"))
        status = from_union([from_str, from_none], obj.get("status"))
        tool = from_union([from_str, from_none], obj.get("tool"))
        undoes = from_union([from_bool, from_none], obj.get("undoes"))
        usage = from_union([lambda x: from_dict(lambda x: x, x), from_none], obj.get("usage"))
        value = obj.get("value")
        work = from_union([from_str, from_none], obj.get("work"))
        return Event(run, time, type, activity, answer, applied, asked, attempt, by, cached, call, content, delay, digest, error, fallback, instance, intent, key, lost, method, outcome, path, permanent, progress, question, reason, replayed, revision, status, tool, undoes, usage, value, work)

    def to_dict(self) -> dict:
        result: dict = {}
        result["run"] = from_str(self.run)
        result["time"] = from_str(self.time)
        result["type"] = from_str(self.type)
        if self.activity is not None:
            result["activity"] = from_union([from_str, from_none], self.activity)
        if self.answer is not None:
            result["answer"] = from_union([lambda x: from_dict(lambda x: x, x), from_none], self.answer)
        if self.applied is not None:
            result["applied"] = from_union([from_bool, from_none], self.applied)
        if self.asked is not None:
            result["asked"] = from_union([from_none, lambda x: to_class(Terms, x)], self.asked)
        if self.attempt is not None:
            result["attempt"] = from_union([from_int, from_none], self.attempt)
        if self.by is not None:
            result["by"] = from_union([from_str, from_none], self.by)
        if self.cached is not None:
            result["cached"] = from_union([from_bool, from_none], self.cached)
        if self.call is not None:
            result["call"] = from_union([from_str, from_none], self.call)
        if self.content is not None:
            result["content"] = from_union([from_str, from_none], self.content)
        if self.delay is not None:
            result["delay"] = from_union([from_int, from_none], self.delay)
        if self.digest is not None:
            result["digest"] = from_union([from_str, from_none], self.digest)
        if self.error is not None:
            result["error"] = from_union([from_none, lambda x: to_class(Failure, x)], self.error)
        if self.fallback is not None:
            result["fallback"] = from_union([from_bool, from_none], self.fallback)
        if self.instance is not None:
            result["instance"] = from_union([from_str, from_none], self.instance)
        if self.intent is not None:
            result["intent"] = from_union([lambda x: from_dict(lambda x: x, x), from_none], self.intent)
        if self.key is not None:
            result["key"] = from_union([from_str, from_none], self.key)
        if self.lost is not None:
            result["lost"] = from_union([from_bool, from_none], self.lost)
        if self.method is not None:
            result["method"] = from_union([from_str, from_none], self.method)
        if self.outcome is not None:
            result["outcome"] = from_union([from_str, from_none], self.outcome)
        if self.path is not None:
            result["path"] = from_union([from_str, from_none], self.path)
        if self.permanent is not None:
            result["permanent"] = from_union([from_bool, from_none], self.permanent)
        if self.progress is not None:
            result["progress"] = from_union([lambda x: from_dict(lambda x: x, x), from_none], self.progress)
        if self.question is not None:
            result["question"] = from_union([from_str, from_none], self.question)
        if self.reason is not None:
            result["reason"] = from_union([from_str, from_none], self.reason)
        if self.replayed is not None:
            result["replayed"] = from_union([from_bool, from_none], self.replayed)
        if self.revision is not None:
            result["revision"] = from_union([from_int, from_none], self.revision)
        if self.status is not None:
            result["status"] = from_union([from_str, from_none], self.status)
        if self.tool is not None:
            result["tool"] = from_union([from_str, from_none], self.tool)
        if self.undoes is not None:
            result["undoes"] = from_union([from_bool, from_none], self.undoes)
        if self.usage is not None:
            result["usage"] = from_union([lambda x: from_dict(lambda x: x, x), from_none], self.usage)
        if self.value is not None:
            result["value"] = self.value
        if self.work is not None:
            result["work"] = from_union([from_str, from_none], self.work)
        return result


@dataclass
class Simulated:
    plan: list[Any] | dict[str, Any] | str
    """the plan as a text, or as JSON"""

    documents: dict[str, list[Any] | dict[str, Any] | str] | None = None
    """the plans that _delegate names: each a text, or JSON"""

    fails: list[str] | None = None
    """TOOL=SHARE, the share of the attempts of a tool that fail"""

    input: dict[str, Any] | None = None
    instances: str | None = None
    """a JSON object per line; the plan runs once for each"""

    labels: dict[str, str] | None = None
    name: str | None = None
    """what people call the plan; lists show it as <name>. A run without one is named after the
    tools that it calls
    """
    notation: str | None = None
    runs: int | None = None
    seed: int | None = None
    state: dict[str, Any] | None = None
    takes: list[str] | None = None
    """TOOL=TIME, how long an attempt of a tool takes, as in pay=2s or pay=1s..3s"""

    upload: str | None = None
    """the id of an upload with the instances, in place of them"""

    @staticmethod
    def from_dict(obj: Any) -> 'Simulated':
        assert isinstance(obj, dict)
        plan = from_union([lambda x: from_list(lambda x: x, x), lambda x: from_dict(lambda x: x, x), from_str], obj.get("plan"))
        documents = from_union([lambda x: from_dict(lambda x: from_union([lambda x: from_list(lambda x: x, x), lambda x: from_dict(lambda x: x, x), from_str], x), x), from_none], obj.get("documents"))
        fails = from_union([lambda x: from_list(from_str, x), from_none], obj.get("fails"))
        input = from_union([lambda x: from_dict(lambda x: x, x), from_none], obj.get("input"))
        instances = from_union([from_str, from_none], obj.get("instances"))
        labels = from_union([lambda x: from_dict(from_str, x), from_none], obj.get("labels"))
        name = from_union([from_str, from_none], obj.get("name"))
        notation = from_union([from_str, from_none], obj.get("notation"))
        runs = from_union([from_int, from_none], obj.get("runs"))
        seed = from_union([from_int, from_none], obj.get("seed"))
        state = from_union([lambda x: from_dict(lambda x: x, x), from_none], obj.get("state"))
        takes = from_union([lambda x: from_list(from_str, x), from_none], obj.get("takes"))
        upload = from_union([from_str, from_none], obj.get("upload"))
        return Simulated(plan, documents, fails, input, instances, labels, name, notation, runs, seed, state, takes, upload)

    def to_dict(self) -> dict:
        result: dict = {}
        result["plan"] = from_union([lambda x: from_list(lambda x: x, x), lambda x: from_dict(lambda x: x, x), from_str], self.plan)
        if self.documents is not None:
            result["documents"] = from_union([lambda x: from_dict(lambda x: from_union([lambda x: from_list(lambda x: x, x), lambda x: from_dict(lambda x: x, x), from_str], x), x), from_none], self.documents)
        if self.fails is not None:
            result["fails"] = from_union([lambda x: from_list(from_str, x), from_none], self.fails)
        if self.input is not None:
            result["input"] = from_union([lambda x: from_dict(lambda x: x, x), from_none], self.input)
        if self.instances is not None:
            result["instances"] = from_union([from_str, from_none], self.instances)
        if self.labels is not None:
            result["labels"] = from_union([lambda x: from_dict(from_str, x), from_none], self.labels)
        if self.name is not None:
            result["name"] = from_union([from_str, from_none], self.name)
        if self.notation is not None:
            result["notation"] = from_union([from_str, from_none], self.notation)
        if self.runs is not None:
            result["runs"] = from_union([from_int, from_none], self.runs)
        if self.seed is not None:
            result["seed"] = from_union([from_int, from_none], self.seed)
        if self.state is not None:
            result["state"] = from_union([lambda x: from_dict(lambda x: x, x), from_none], self.state)
        if self.takes is not None:
            result["takes"] = from_union([lambda x: from_list(from_str, x), from_none], self.takes)
        if self.upload is not None:
            result["upload"] = from_union([from_str, from_none], self.upload)
        return result


@dataclass
class AssumedTool:
    attempts: int
    durations: int
    failed: int
    fails: float
    fails_from: str
    least: float
    most: float
    takes_from: str
    tool: str
    call: str | None = None

    @staticmethod
    def from_dict(obj: Any) -> 'AssumedTool':
        assert isinstance(obj, dict)
        attempts = from_int(obj.get("attempts"))
        durations = from_int(obj.get("durations"))
        failed = from_int(obj.get("failed"))
        fails = from_float(obj.get("fails"))
        fails_from = from_str(obj.get("failsFrom"))
        least = from_float(obj.get("least"))
        most = from_float(obj.get("most"))
        takes_from = from_str(obj.get("takesFrom"))
        tool = from_str(obj.get("tool"))
        call = from_union([from_str, from_none], obj.get("call"))
        return AssumedTool(attempts, durations, failed, fails, fails_from, least, most, takes_from, tool, call)

    def to_dict(self) -> dict:
        result: dict = {}
        result["attempts"] = from_int(self.attempts)
        result["durations"] = from_int(self.durations)
        result["failed"] = from_int(self.failed)
        result["fails"] = to_float(self.fails)
        result["failsFrom"] = from_str(self.fails_from)
        result["least"] = to_float(self.least)
        result["most"] = to_float(self.most)
        result["takesFrom"] = from_str(self.takes_from)
        result["tool"] = from_str(self.tool)
        if self.call is not None:
            result["call"] = from_union([from_str, from_none], self.call)
        return result


@dataclass
class Share:
    high: float
    low: float
    of: int
    runs: int
    share: float

    @staticmethod
    def from_dict(obj: Any) -> 'Share':
        assert isinstance(obj, dict)
        high = from_float(obj.get("high"))
        low = from_float(obj.get("low"))
        of = from_int(obj.get("of"))
        runs = from_int(obj.get("runs"))
        share = from_float(obj.get("share"))
        return Share(high, low, of, runs, share)

    def to_dict(self) -> dict:
        result: dict = {}
        result["high"] = to_float(self.high)
        result["low"] = to_float(self.low)
        result["of"] = from_int(self.of)
        result["runs"] = from_int(self.runs)
        result["share"] = to_float(self.share)
        return result


@dataclass
class Simulation:
    """docs/simulation.md says what the other members mean"""

    assumed: list[AssumedTool]
    ends: dict[str, int]
    first_outcome: list[str]
    planned: int
    runs: int
    seed: int
    stopped: bool
    succeeded: Share

    @staticmethod
    def from_dict(obj: Any) -> 'Simulation':
        assert isinstance(obj, dict)
        assumed = from_list(AssumedTool.from_dict, obj.get("assumed"))
        ends = from_dict(from_int, obj.get("ends"))
        first_outcome = from_list(from_str, obj.get("firstOutcome"))
        planned = from_int(obj.get("planned"))
        runs = from_int(obj.get("runs"))
        seed = from_int(obj.get("seed"))
        stopped = from_bool(obj.get("stopped"))
        succeeded = Share.from_dict(obj.get("succeeded"))
        return Simulation(assumed, ends, first_outcome, planned, runs, seed, stopped, succeeded)

    def to_dict(self) -> dict:
        result: dict = {}
        result["assumed"] = from_list(lambda x: to_class(AssumedTool, x), self.assumed)
        result["ends"] = from_dict(from_int, self.ends)
        result["firstOutcome"] = from_list(from_str, self.first_outcome)
        result["planned"] = from_int(self.planned)
        result["runs"] = from_int(self.runs)
        result["seed"] = from_int(self.seed)
        result["stopped"] = from_bool(self.stopped)
        result["succeeded"] = to_class(Share, self.succeeded)
        return result


@dataclass
class Flowing:
    findings: list[Finding]
    ok: bool
    policies: list[dict[str, Any]]

    @staticmethod
    def from_dict(obj: Any) -> 'Flowing':
        assert isinstance(obj, dict)
        findings = from_list(Finding.from_dict, obj.get("findings"))
        ok = from_bool(obj.get("ok"))
        policies = from_list(lambda x: from_dict(lambda x: x, x), obj.get("policies"))
        return Flowing(findings, ok, policies)

    def to_dict(self) -> dict:
        result: dict = {}
        result["findings"] = from_list(lambda x: to_class(Finding, x), self.findings)
        result["ok"] = from_bool(self.ok)
        result["policies"] = from_list(lambda x: from_dict(lambda x: x, x), self.policies)
        return result


@dataclass
class Upload:
    bytes: int
    id: str
    """its SHA-256 in hexadecimal"""

    lines: int
    """that are not blank"""

    @staticmethod
    def from_dict(obj: Any) -> 'Upload':
        assert isinstance(obj, dict)
        bytes = from_int(obj.get("bytes"))
        id = from_str(obj.get("id"))
        lines = from_int(obj.get("lines"))
        return Upload(bytes, id, lines)

    def to_dict(self) -> dict:
        result: dict = {}
        result["bytes"] = from_int(self.bytes)
        result["id"] = from_str(self.id)
        result["lines"] = from_int(self.lines)
        return result


@dataclass
class UndoneCall:
    call: str
    tool: str
    asks: bool | None = None
    id: str | None = None
    instance: str | None = None
    params: Any = None
    """any JSON value"""

    uncertain: bool | None = None
    undo: str | None = None
    why: str | None = None

    @staticmethod
    def from_dict(obj: Any) -> 'UndoneCall':
        assert isinstance(obj, dict)
        call = from_str(obj.get("call"))
        tool = from_str(obj.get("tool"))
        asks = from_union([from_bool, from_none], obj.get("asks"))
        id = from_union([from_str, from_none], obj.get("id"))
        instance = from_union([from_str, from_none], obj.get("instance"))
        params = obj.get("params")
        uncertain = from_union([from_bool, from_none], obj.get("uncertain"))
        undo = from_union([from_str, from_none], obj.get("undo"))
        why = from_union([from_str, from_none], obj.get("why"))
        return UndoneCall(call, tool, asks, id, instance, params, uncertain, undo, why)

    def to_dict(self) -> dict:
        result: dict = {}
        result["call"] = from_str(self.call)
        result["tool"] = from_str(self.tool)
        if self.asks is not None:
            result["asks"] = from_union([from_bool, from_none], self.asks)
        if self.id is not None:
            result["id"] = from_union([from_str, from_none], self.id)
        if self.instance is not None:
            result["instance"] = from_union([from_str, from_none], self.instance)
        if self.params is not None:
            result["params"] = self.params
        if self.uncertain is not None:
            result["uncertain"] = from_union([from_bool, from_none], self.uncertain)
        if self.undo is not None:
            result["undo"] = from_union([from_str, from_none], self.undo)
        if self.why is not None:
            result["why"] = from_union([from_str, from_none], self.why)
        return result


@dataclass
class Undone:
    of: str
    stands: list[UndoneCall]
    status: str
    undone: list[UndoneCall]
    run: str | None = None

    @staticmethod
    def from_dict(obj: Any) -> 'Undone':
        assert isinstance(obj, dict)
        of = from_str(obj.get("of"))
        stands = from_list(UndoneCall.from_dict, obj.get("stands"))
        status = from_str(obj.get("status"))
        undone = from_list(UndoneCall.from_dict, obj.get("undone"))
        run = from_union([from_str, from_none], obj.get("run"))
        return Undone(of, stands, status, undone, run)

    def to_dict(self) -> dict:
        result: dict = {}
        result["of"] = from_str(self.of)
        result["stands"] = from_list(lambda x: to_class(UndoneCall, x), self.stands)
        result["status"] = from_str(self.status)
        result["undone"] = from_list(lambda x: to_class(UndoneCall, x), self.undone)
        if self.run is not None:
            result["run"] = from_union([from_str, from_none], self.run)
        return result


@dataclass
class Undoing:
    by: str
    """the run that undoes it, which may not have begun; empty when nothing is left to do"""

    calls: list[UndoneCall]
    run: str
    stands: list[UndoneCall]
    before: Undone | None = None

    @staticmethod
    def from_dict(obj: Any) -> 'Undoing':
        assert isinstance(obj, dict)
        by = from_str(obj.get("by"))
        calls = from_list(UndoneCall.from_dict, obj.get("calls"))
        run = from_str(obj.get("run"))
        stands = from_list(UndoneCall.from_dict, obj.get("stands"))
        before = from_union([from_none, Undone.from_dict], obj.get("before"))
        return Undoing(by, calls, run, stands, before)

    def to_dict(self) -> dict:
        result: dict = {}
        result["by"] = from_str(self.by)
        result["calls"] = from_list(lambda x: to_class(UndoneCall, x), self.calls)
        result["run"] = from_str(self.run)
        result["stands"] = from_list(lambda x: to_class(UndoneCall, x), self.stands)
        result["before"] = from_union([from_none, lambda x: to_class(Undone, x)], self.before)
        return result


@dataclass
class Revised:
    documents: dict[str, list[Any] | dict[str, Any] | str] | None = None
    """the plans that _delegate names: each a text, or JSON"""

    plan: list[Any] | dict[str, Any] | str | None = None
    """the plan as a text, or as JSON, in the notation of the run's first plan"""

    @staticmethod
    def from_dict(obj: Any) -> 'Revised':
        assert isinstance(obj, dict)
        documents = from_union([lambda x: from_dict(lambda x: from_union([lambda x: from_list(lambda x: x, x), lambda x: from_dict(lambda x: x, x), from_str], x), x), from_none], obj.get("documents"))
        plan = from_union([lambda x: from_list(lambda x: x, x), lambda x: from_dict(lambda x: x, x), from_str, from_none], obj.get("plan"))
        return Revised(documents, plan)

    def to_dict(self) -> dict:
        result: dict = {}
        if self.documents is not None:
            result["documents"] = from_union([lambda x: from_dict(lambda x: from_union([lambda x: from_list(lambda x: x, x), lambda x: from_dict(lambda x: x, x), from_str], x), x), from_none], self.documents)
        if self.plan is not None:
            result["plan"] = from_union([lambda x: from_list(lambda x: x, x), lambda x: from_dict(lambda x: x, x), from_str, from_none], self.plan)
        return result


def problem_from_dict(s: Any) -> Problem:
    return Problem.from_dict(s)


def problem_to_dict(x: Problem) -> Any:
    return to_class(Problem, x)


def finding_from_dict(s: Any) -> Finding:
    return Finding.from_dict(s)


def finding_to_dict(x: Finding) -> Any:
    return to_class(Finding, x)


def note_from_dict(s: Any) -> Note:
    return Note.from_dict(s)


def note_to_dict(x: Note) -> Any:
    return to_class(Note, x)


def fix_from_dict(s: Any) -> Fix:
    return Fix.from_dict(s)


def fix_to_dict(x: Fix) -> Any:
    return to_class(Fix, x)


def edit_from_dict(s: Any) -> Edit:
    return Edit.from_dict(s)


def edit_to_dict(x: Edit) -> Any:
    return to_class(Edit, x)


def planned_from_dict(s: Any) -> Planned:
    return Planned.from_dict(s)


def planned_to_dict(x: Planned) -> Any:
    return to_class(Planned, x)


def checked_from_dict(s: Any) -> Checked:
    return Checked.from_dict(s)


def checked_to_dict(x: Checked) -> Any:
    return to_class(Checked, x)


def previewed_from_dict(s: Any) -> Previewed:
    return Previewed.from_dict(s)


def previewed_to_dict(x: Previewed) -> Any:
    return to_class(Previewed, x)


def dry_run_from_dict(s: Any) -> DryRun:
    return DryRun.from_dict(s)


def dry_run_to_dict(x: DryRun) -> Any:
    return to_class(DryRun, x)


def dry_call_from_dict(s: Any) -> DryCall:
    return DryCall.from_dict(s)


def dry_call_to_dict(x: DryCall) -> Any:
    return to_class(DryCall, x)


def summary_from_dict(s: Any) -> Summary:
    return Summary.from_dict(s)


def summary_to_dict(x: Summary) -> Any:
    return to_class(Summary, x)


def runs_from_dict(s: Any) -> Runs:
    return Runs.from_dict(s)


def runs_to_dict(x: Runs) -> Any:
    return to_class(Runs, x)


def write_from_dict(s: Any) -> Write:
    return Write.from_dict(s)


def write_to_dict(x: Write) -> Any:
    return to_class(Write, x)


def call_from_dict(s: Any) -> Call:
    return Call.from_dict(s)


def call_to_dict(x: Call) -> Any:
    return to_class(Call, x)


def failure_from_dict(s: Any) -> Failure:
    return Failure.from_dict(s)


def failure_to_dict(x: Failure) -> Any:
    return to_class(Failure, x)


def document_from_dict(s: Any) -> Document:
    return Document.from_dict(s)


def document_to_dict(x: Document) -> Any:
    return to_class(Document, x)


def result_from_dict(s: Any) -> Result:
    return Result.from_dict(s)


def result_to_dict(x: Result) -> Any:
    return to_class(Result, x)


def call_result_from_dict(s: Any) -> CallResult:
    return CallResult.from_dict(s)


def call_result_to_dict(x: CallResult) -> Any:
    return to_class(CallResult, x)


def board_from_dict(s: Any) -> Board:
    return Board.from_dict(s)


def board_to_dict(x: Board) -> Any:
    return to_class(Board, x)


def question_from_dict(s: Any) -> Question:
    return Question.from_dict(s)


def question_to_dict(x: Question) -> Any:
    return to_class(Question, x)


def terms_from_dict(s: Any) -> Terms:
    return Terms.from_dict(s)


def terms_to_dict(x: Terms) -> Any:
    return to_class(Terms, x)


def questions_from_dict(s: Any) -> Questions:
    return Questions.from_dict(s)


def questions_to_dict(x: Questions) -> Any:
    return to_class(Questions, x)


def decision_from_dict(s: Any) -> Decision:
    return Decision.from_dict(s)


def decision_to_dict(x: Decision) -> Any:
    return to_class(Decision, x)


def tool_from_dict(s: Any) -> Tool:
    return Tool.from_dict(s)


def tool_to_dict(x: Tool) -> Any:
    return to_class(Tool, x)


def tools_from_dict(s: Any) -> Tools:
    return Tools.from_dict(s)


def tools_to_dict(x: Tools) -> Any:
    return to_class(Tools, x)


def code_from_dict(s: Any) -> Code:
    return Code.from_dict(s)


def code_to_dict(x: Code) -> Any:
    return to_class(Code, x)


def cancel_from_dict(s: Any) -> Cancel:
    return Cancel.from_dict(s)


def cancel_to_dict(x: Cancel) -> Any:
    return to_class(Cancel, x)


def fork_from_dict(s: Any) -> Fork:
    return Fork.from_dict(s)


def fork_to_dict(x: Fork) -> Any:
    return to_class(Fork, x)


def replayed_from_dict(s: Any) -> Replayed:
    return Replayed.from_dict(s)


def replayed_to_dict(x: Replayed) -> Any:
    return to_class(Replayed, x)


def event_from_dict(s: Any) -> Event:
    return Event.from_dict(s)


def event_to_dict(x: Event) -> Any:
    return to_class(Event, x)


def simulated_from_dict(s: Any) -> Simulated:
    return Simulated.from_dict(s)


def simulated_to_dict(x: Simulated) -> Any:
    return to_class(Simulated, x)


def simulation_from_dict(s: Any) -> Simulation:
    return Simulation.from_dict(s)


def simulation_to_dict(x: Simulation) -> Any:
    return to_class(Simulation, x)


def share_from_dict(s: Any) -> Share:
    return Share.from_dict(s)


def share_to_dict(x: Share) -> Any:
    return to_class(Share, x)


def assumed_tool_from_dict(s: Any) -> AssumedTool:
    return AssumedTool.from_dict(s)


def assumed_tool_to_dict(x: AssumedTool) -> Any:
    return to_class(AssumedTool, x)


def flowing_from_dict(s: Any) -> Flowing:
    return Flowing.from_dict(s)


def flowing_to_dict(x: Flowing) -> Any:
    return to_class(Flowing, x)


def upload_from_dict(s: Any) -> Upload:
    return Upload.from_dict(s)


def upload_to_dict(x: Upload) -> Any:
    return to_class(Upload, x)


def undone_call_from_dict(s: Any) -> UndoneCall:
    return UndoneCall.from_dict(s)


def undone_call_to_dict(x: UndoneCall) -> Any:
    return to_class(UndoneCall, x)


def undone_from_dict(s: Any) -> Undone:
    return Undone.from_dict(s)


def undone_to_dict(x: Undone) -> Any:
    return to_class(Undone, x)


def undoing_from_dict(s: Any) -> Undoing:
    return Undoing.from_dict(s)


def undoing_to_dict(x: Undoing) -> Any:
    return to_class(Undoing, x)


def revised_from_dict(s: Any) -> Revised:
    return Revised.from_dict(s)


def revised_to_dict(x: Revised) -> Any:
    return to_class(Revised, x)
