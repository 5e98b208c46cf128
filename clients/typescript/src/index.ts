/**
 * A client of plc serve, which checks, runs and approves the plans of AI agents. The types of what
 * the server takes and answers are generated, in schema.ts.
 */
import createClient, { type Client as Api } from "openapi-fetch";
import type { components, paths } from "./schema.js";

export type Schemas = components["schemas"];
export type Checked = Schemas["Checked"];
export type Document = Schemas["Document"];
export type Event = Schemas["Event"];
export type Finding = Schemas["Finding"];
export type Planned = Schemas["Planned"];
export type Previewed = Schemas["Previewed"];
export type Problem = Schemas["Problem"];
export type Question = Schemas["Question"];
export type Summary = Schemas["Summary"];

/** An answer of the server that is an error; its problem has the findings of a plan. */
export class ProblemError extends Error {
  constructor(readonly problem: Problem, readonly retryAfter: string | null) {
    super(`${problem.status} ${problem.title}: ${problem.detail}`);
    this.name = "ProblemError";
  }
}

/** Reports whether a run waits for a person. */
export function waits({ summary: s }: Document): boolean {
  return s.waitsForPlan || (s.status === "paused" && s.questions > 0);
}

/** Calls a server with a token. */
export class Client {
  /** All requests of the server, with types: for what has no method here. Errors are ProblemErrors. */
  readonly api: Api<paths>;

  constructor(url: string, token: string) {
    this.api = createClient<paths>({ baseUrl: url, headers: { Authorization: `Bearer ${token}` }, redirect: "error" });
    this.api.use({
      async onResponse({ response }) {
        if (response.ok) return;
        const text = await response.text();
        const problem = response.headers.get("Content-Type") === "application/problem+json" ? JSON.parse(text)
          : { type: "about:blank", title: response.statusText, status: response.status, detail: text.slice(0, 200) };
        throw new ProblemError(problem, response.headers.get("Retry-After"));
      },
    });
  }

  /** Checks a plan, a text or JSON. */
  async check(body: Planned): Promise<Checked> {
    return (await this.api.POST("/v1/check", { body })).data!;
  }

  /** Says what a plan would do; nothing runs. */
  async preview(body: Planned): Promise<Previewed> {
    return (await this.api.POST("/v1/plan", { body })).data!;
  }

  /** Starts a run. A second request with the same key returns the run of the first. */
  async run(body: Planned, key?: string): Promise<Summary> {
    return (await this.api.POST("/v1/runs", { body, params: { header: key ? { "Idempotency-Key": key } : {} } })).data!;
  }

  /** Returns all that is known of a run. */
  async document(run: string, signal?: AbortSignal): Promise<Document> {
    return (await this.api.GET("/v1/runs/{run}", { params: { path: { run } }, signal })).data!;
  }

  /** Waits until a run has ended or waits for a person, or until the signal, whose reason is thrown. */
  async wait(run: string, signal?: AbortSignal): Promise<Document> {
    for (;;) {
      const document = await this.document(run, signal);
      if (waits(document)) return document;
      let paused = false;
      for await (const [, event] of this.events(run, document.summary.events, signal)) {
        paused = event.type === "runPaused";
        if (paused) break;
      }
      if (!paused) return this.document(run, signal);
    }
  }

  /**
   * Yields the events of a run behind a number, each with its own, until the run has ended. A
   * connection that breaks is made again, without a gap or a repetition, and given up after ten
   * failures in a row.
   */
  async *events(run: string, after = 0, signal?: AbortSignal): AsyncGenerator<[number, Event]> {
    for (let failures = 1; ; failures++) {
      let error: unknown = new Error("the server ends the stream of events");
      const params = { path: { run }, header: { "Last-Event-ID": String(after) } };
      try {
        const { data, response } = await this.api.GET("/v1/runs/{run}/events", { params, signal, parseAs: "stream" });
        if (response.status === 204) return;
        let rest = "";
        for await (const chunk of data!.pipeThrough(new TextDecoderStream())) {
          const blocks = (rest + chunk).split("\n\n");
          rest = blocks.pop()!; // an event is whole only with the empty line behind it
          for (const block of blocks) {
            const [, number, text] = /^id: (\d+)\ndata: (.*)$/.exec(block) ?? [];
            if (number === undefined || text === undefined) continue; // a comment
            [after, failures] = [Number(number), 0];
            yield [after, JSON.parse(text)];
          }
        }
      } catch (e) {
        if (signal?.aborted) throw signal.reason;
        if (e instanceof ProblemError && e.problem.status < 500) throw e;
        error = e;
      }
      if (failures > 10) throw error;
      await new Promise((next) => setTimeout(next, Math.min(10 * 3 ** failures, 5000)));
    }
  }

  /** Returns what a run asks a person. */
  async questions(run: string): Promise<Question[]> {
    return (await this.api.GET("/v1/runs/{run}/questions", { params: { path: { run } } })).data!.questions;
  }

  /** Answers approve (with other params), refuse or skip (with a reason), or answer (with a result). */
  async answer({ run, instance, call, digest }: Question, decision: Schemas["Decision"]["decision"],
    more: Pick<Schemas["Decision"], "reason" | "params" | "result"> = {}): Promise<void> {
    await this.api.POST("/v1/runs/{run}/answers", { params: { path: { run } }, body: { instance, call, digest, decision, ...more } });
  }

  /** Approves the call of a question, as the question shows it. */
  approve(question: Question): Promise<void> {
    return this.answer(question, "approve");
  }
}
