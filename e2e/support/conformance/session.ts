import { buildRequest } from "./build-request.ts";
import type { Checker } from "./check-answer.ts";
import { listOperations, type Operation } from "./document.ts";
import { keepFrom, type PathValues } from "./pools.ts";
import type { GeneratedRequest, Workbench } from "./request.ts";
import type { RawAnswer, Transport } from "./transport.ts";

/** One kind of contradiction between answers and the API description, with its first example. */
export interface Finding {
  readonly operation: string;
  readonly problem: string;
  count: number;
  readonly example: string;
}

/** What a conformance run sent and which contradictions it found. */
export interface Report {
  requests: number;
  /** Number of answers of each operation by status. */
  readonly statuses: Map<string, Map<number, number>>;
  readonly findings: Map<string, Finding>;
}

/** Sends requests, checks each answer and stores its ids and cursors for later requests. */
export interface Session {
  readonly report: Report;
  readonly bench: Workbench;
  /** Sends one request of a journey. An answer whose status is not among the expected ones is reported as a finding. */
  readonly call: (
    operationId: string,
    expected: number | readonly number[],
    options?: CallOptions,
  ) => Promise<JourneyAnswer>;
  /** Sends generated requests until the report has `total` requests. */
  sendGenerated(total: number, parallel: number): Promise<void>;
  /** Reports a problem that is visible only in a sequence of requests. */
  readonly addProblem: (operationId: string, problem: string, example: string) => void;
}

export interface CallOptions {
  readonly path?: PathValues;
  readonly query?: string;
  readonly body?: unknown;
  readonly bytes?: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface JourneyAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface SessionTools {
  readonly checker: Checker;
  readonly transport: Transport;
  readonly report: Report;
}

/** Maximum number of attempts of a request that the gateway answers with 503. The last 503 is checked like any other answer. */
const MAX_ATTEMPTS = 10;
const EXAMPLE_LENGTH = 600;

function exampleOf({ operation, target, headers, body, label }: GeneratedRequest, raw: RawAnswer) {
  const { authorization: _secret, ...others } = headers;
  const sent = body === undefined ? "" : ` ${body.subarray(0, EXAMPLE_LENGTH).toString()}`;
  const answered = raw.body.subarray(0, EXAMPLE_LENGTH).toString();
  return `${label}: ${operation.method} ${target.slice(0, 300)} ${JSON.stringify(others).slice(0, 300)}${sent}\n    → ${raw.status} ${answered}`;
}

export function createReport(): Report {
  return { requests: 0, statuses: new Map(), findings: new Map() };
}

/** Opens a conformance session in one workspace; several sessions may share one report. */
export function openSession(
  bench: Workbench,
  { checker, transport, report }: SessionTools,
): Session {
  const operations = listOperations(bench.document);

  const addFinding = (operation: string, problem: string, example: string) => {
    const key = `${operation} ${problem}`;
    const found = report.findings.get(key);
    if (found === undefined) report.findings.set(key, { operation, problem, count: 1, example });
    else found.count += 1;
  };

  const send = async (request: GeneratedRequest): Promise<RawAnswer> => {
    const { operation, path } = request;
    report.requests += 1;
    const answer = await transport.send({ ...request, method: operation.method });
    const counts = report.statuses.get(operation.id) ?? new Map<number, number>();
    counts.set(answer.status, (counts.get(answer.status) ?? 0) + 1);
    report.statuses.set(operation.id, counts);
    for (const problem of checker.problemsOf(request, answer))
      addFinding(operation.id, problem, exampleOf(request, answer));
    const etag = answer.headers["etag"];
    keepFrom(bench.pools, operation.id, path, {
      status: answer.status,
      body: bodyOf(answer),
      etag,
    });
    return answer;
  };

  let generated = 0;
  const sendGenerated = async (total: number, parallel: number) => {
    const lane = async () => {
      while (report.requests < total) {
        generated += 1;
        // Each request is generated from its number only, so the order in which answers arrive does not matter.
        bench.random.restart(bench.seed * 1_000_003 + generated);
        const request = buildRequest(bench.random.pick(operations), bench);
        const label = `request ${generated}, ${request.label}`;
        await send({ ...request, label }).catch(failWith);
      }
    };
    await Promise.all(Array.from({ length: parallel }, lane));
  };

  const failWith = (error: unknown) => addFinding("transport", String(error), "");

  const call: Session["call"] = async (operationId, expected, options = {}) => {
    const statuses = [expected].flat();
    const operation = operations.find(({ id }) => id === operationId);
    if (operation === undefined) throw new Error(`${operationId} is not described`);
    const request = journeyRequest(operation, options, bench.keys.full);
    const expectation = statuses.every((status) => status < 400) ? "valid" : "open";
    const sendOnce = () => send({ ...request, expectation });
    let answer = await sendOnce();
    // On a machine under load, the gateway may answer 503 and ask the client to wait.
    for (let attempt = 1; attempt < MAX_ATTEMPTS && answer.status === 503; attempt += 1) {
      const seconds = Number(answer.headers["retry-after"] ?? 1);
      await new Promise((done) => setTimeout(done, seconds * 1_000));
      answer = await sendOnce();
    }
    const body = (bodyOf(answer) ?? {}) as Record<string, unknown>;
    if (!statuses.includes(answer.status)) {
      const problem = `was answered ${answer.status} instead of ${statuses.join(" or ")} in a journey`;
      addFinding(operationId, problem, exampleOf(request, answer));
    }
    return { status: answer.status, headers: answer.headers, body };
  };

  return { report, bench, call, sendGenerated, addProblem: addFinding };
}

function bodyOf({ body }: RawAnswer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
}

function journeyRequest(
  operation: Operation,
  { path = {}, query = "", body, bytes, headers = {} }: CallOptions,
  key: string,
): GeneratedRequest {
  const filled = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    name === "uploadPath" ? (path[name] ?? "") : encodeURIComponent(path[name] ?? ""),
  );
  const json = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  const sent = bytes ?? json;
  return {
    operation,
    path,
    target: `${filled}${query}`,
    headers: {
      authorization: `Bearer ${key}`,
      ...(json === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(sent === undefined ? {} : { body: sent }),
    expectation: "valid",
    label: "journey",
  };
}
