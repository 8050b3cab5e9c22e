import { randomUUID } from "node:crypto";
import type { Checker, Expectation } from "./check-answer.ts";
import { findOperation, type ApiDocument, type Operation } from "./document.ts";
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

/** Sends requests and checks each answer against the API description. */
export interface Session {
  readonly report: Report;
  /**
   * Sends one request of a journey. An answer whose status is not among the expected ones is
   * reported as a finding.
   */
  readonly call: (
    operationId: string,
    expected: number | readonly number[],
    options?: CallOptions,
  ) => Promise<JourneyAnswer>;
  /**
   * Sends one request and checks only that its answer fits the API description and the expectation.
   */
  readonly send: (operation: Operation, options: SendOptions) => Promise<RawAnswer>;
  /** Reports a problem that is visible only in a sequence of requests. */
  readonly addProblem: (operationId: string, problem: string, example: string) => void;
}

/** The parts of a request. Parameters of the path that are not given are random ids. */
export interface CallOptions {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: unknown;
  readonly bytes?: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

interface SendOptions extends CallOptions {
  readonly expectation: Expectation;
  /** What is special about the request, in words for the report. */
  readonly label?: string;
  /** Whether the request has the API key with limited rights. */
  readonly isLimited?: boolean;
}

export interface JourneyAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface SessionTools {
  readonly document: ApiDocument;
  readonly checker: Checker;
  readonly transport: Transport;
  readonly report: Report;
  readonly keys: { readonly full: string; readonly limited: string };
}

/**
 * Maximum number of attempts of a request that the gateway answers with 503. The last 503 is
 * checked like any other answer.
 */
const MAX_ATTEMPTS = 10;
const EXAMPLE_LENGTH = 600;

export function createReport(): Report {
  return { requests: 0, statuses: new Map(), findings: new Map() };
}

/** Opens a conformance session in one workspace; several sessions may share one report. */
export function openSession(tools: SessionTools): Session {
  const { document, checker, transport, report, keys } = tools;

  const addProblem: Session["addProblem"] = (operation, problem, example) => {
    const key = `${operation} ${problem}`;
    const found = report.findings.get(key);
    if (found === undefined) report.findings.set(key, { operation, problem, count: 1, example });
    else found.count += 1;
  };

  const send: Session["send"] = async (operation, options) => {
    const { expectation, label = expectation, isLimited = false } = options;
    const request = toRequest(operation, options, isLimited ? keys.limited : keys.full);
    report.requests += 1;
    const answer = await transport.send(request);
    const counts = report.statuses.get(operation.id) ?? new Map<number, number>();
    counts.set(answer.status, (counts.get(answer.status) ?? 0) + 1);
    report.statuses.set(operation.id, counts);
    for (const problem of checker.problemsOf({ operation, expectation }, answer))
      addProblem(operation.id, problem, `${label}: ${exampleOf(request, answer)}`);
    return answer;
  };

  const call: Session["call"] = async (operationId, expected, options = {}) => {
    const statuses = [expected].flat();
    const operation = findOperation(document, operationId);
    const expectation = statuses.every((status) => status < 400) ? "valid" : "open";
    const sendOnce = () => send(operation, { ...options, expectation, label: "journey" });
    let answer = await sendOnce();
    // On a machine under load, the gateway may answer 503 and ask the client to wait.
    for (let attempt = 1; attempt < MAX_ATTEMPTS && answer.status === 503; attempt += 1) {
      const seconds = Number(answer.headers["retry-after"] ?? 1);
      await new Promise((done) => setTimeout(done, seconds * 1_000));
      answer = await sendOnce();
    }
    if (!statuses.includes(answer.status)) {
      const problem = `was answered ${answer.status} instead of ${statuses.join(" or ")} in a journey`;
      addProblem(operationId, problem, answer.body.subarray(0, EXAMPLE_LENGTH).toString());
    }
    const body = (bodyOf(answer) ?? {}) as Record<string, unknown>;
    return { status: answer.status, headers: answer.headers, body };
  };

  return { report, call, send, addProblem };
}

type Request = Parameters<Transport["send"]>[0];

function exampleOf({ method, target, headers, body }: Request, answer: RawAnswer): string {
  const { authorization: _secret, ...others } = headers;
  const sent = body === undefined ? "" : ` ${body.subarray(0, EXAMPLE_LENGTH).toString()}`;
  const answered = answer.body.subarray(0, EXAMPLE_LENGTH).toString();
  return `${method} ${target.slice(0, 300)} ${JSON.stringify(others).slice(0, 300)}${sent}\n    → ${answer.status} ${answered}`;
}

function bodyOf({ body }: RawAnswer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
}

function toRequest(
  operation: Operation,
  { path = {}, query = "", body, bytes, headers = {} }: CallOptions,
  key: string,
): Request {
  const filled = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = path[name] ?? randomUUID();
    return name === "uploadPath" ? value : encodeURIComponent(value);
  });
  const json = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  const sent = bytes ?? json;
  return {
    method: operation.method,
    target: `${filled}${query}`,
    headers: {
      authorization: `Bearer ${key}`,
      ...(json === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(sent === undefined ? {} : { body: sent }),
  };
}
