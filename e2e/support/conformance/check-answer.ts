import {
  codesOf,
  headersOf,
  JSON_TYPE,
  type ApiDocument,
  type DescribedAnswer,
  type Operation,
} from "./document.ts";
import type { SchemaJudge } from "./schema-judge.ts";
import type { RawAnswer } from "./transport.ts";

/**
 * Response headers that no operation describes: those of HTTP itself, and those with which the
 * server protects browsers.
 */
const GENERAL_HEADERS: ReadonlySet<string> = new Set([
  "date",
  "connection",
  "keep-alive",
  "content-length",
  "content-type",
  "content-encoding",
  "transfer-encoding",
  "vary",
  "cache-control",
  "x-content-type-options",
  "content-security-policy",
  "referrer-policy",
  "cross-origin-resource-policy",
  "strict-transport-security",
  "x-frame-options",
]);

type ErrorBody = {
  readonly error?: { readonly code?: string; readonly details?: readonly { code?: string }[] };
};

/**
 * What the API must answer to a request: success as far as the form of the request decides it, a
 * refusal, a refusal because of its key, or anything that is described.
 */
export type Expectation = "valid" | "refused" | "unauthenticated" | "forbidden" | "open";

export interface SentRequest {
  readonly operation: Operation;
  readonly expectation: Expectation;
}

export interface Checker {
  /** Returns everything in an answer that contradicts the API description. */
  problemsOf(request: SentRequest, answer: RawAnswer): readonly string[];
}

function parse(body: Buffer): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(body.toString("utf8")) as unknown };
  } catch {
    return undefined;
  }
}

function errorOf(body: Buffer): NonNullable<ErrorBody["error"]> {
  return (parse(body)?.value as ErrorBody | undefined)?.error ?? {};
}

/**
 * Returns what is wrong with the HTTP status of an answer, given what the API description says
 * about the request.
 */
function judgeStatus({ expectation }: SentRequest, { status, body }: RawAnswer): readonly string[] {
  const { code, details = [] } = errorOf(body);
  const isRefused = status >= 400;
  // The gateway checks the rate limit of requests before everything else.
  if (status === 429 || status === 503) return [];
  const answered = `was answered ${status} ${code ?? ""}`.trim();
  switch (expectation) {
    case "open":
      return [];
    case "refused":
      return isRefused ? [] : [`does not fit the description and ${answered}`];
    case "unauthenticated":
      return status === 401 ? [] : [`has no valid key and ${answered}`];
    case "forbidden":
      return status === 403 || status === 404 ? [] : [`lacks the scope and ${answered}`];
    case "valid":
      return status === 400 || status === 413 || status === 415
        ? [`fits the description and ${answered}${details.map((each) => ` ${each.code}`).join("")}`]
        : [];
  }
}

/** Creates the check of answers to requests that the OpenAPI document describes. */
export function createChecker(document: ApiDocument, judge: SchemaJudge): Checker {
  const checkHeaders = (answer: DescribedAnswer, { status, headers }: RawAnswer) => {
    const described = headersOf(document, answer);
    const problems: string[] = [];
    for (const [name, value] of Object.entries(headers)) {
      if (GENERAL_HEADERS.has(name)) continue;
      const header = described.get(name);
      if (header === undefined) problems.push(`${status} has the header ${name}, not described`);
      else if (!fitsHeader(judge, header.schema ?? {}, value))
        problems.push(`${status} has the header ${name} that does not fit its schema`);
    }
    for (const [name, { required }] of described)
      if (required === true && !(name in headers))
        problems.push(`${status} lacks the header ${name}`);
    if (!("x-request-id" in headers)) problems.push(`${status} lacks the header x-request-id`);
    return problems;
  };

  const checkBody = (answer: DescribedAnswer, { status, headers, body }: RawAnswer) => {
    const schema = answer.content?.[JSON_TYPE]?.schema;
    if (schema === undefined)
      return body.length === 0 ? [] : [`${status} has a body, which is not described`];
    const type = headers["content-type"] ?? "";
    if (!/^application\/json(; charset=utf-8)?$/.test(type))
      return [`${status} has the type ${type}`];
    const parsed = parse(body);
    if (parsed === undefined) return [`${status} has a body that is not JSON`];
    const faults = judge.faultsOf(schema, parsed.value);
    return faults.map((fault) => `${status} does not fit its schema: ${withoutNumbers(fault)}`);
  };

  const checkCode = (answer: DescribedAnswer, { status, body }: RawAnswer) => {
    if (status < 400) return [];
    const { code } = errorOf(body);
    const known = codesOf(document, answer);
    if (code !== undefined && known.has(code)) return [];
    return [`${status} has the error code ${code}, not described for this status`];
  };

  return {
    problemsOf: (request, answer) => {
      const { status } = answer;
      const described = describedAnswer(request.operation, status);
      const found = judgeStatus(request, answer);
      if (described === undefined) return [...found, `${status} is not described`];
      const isFault = status >= 500 && !(status === 503 && "retry-after" in answer.headers);
      return [
        ...found,
        ...(isFault ? [`${status} is a fault of the server`] : []),
        ...checkHeaders(described, answer),
        ...checkBody(described, answer),
        ...checkCode(described, answer),
      ];
    },
  };
}

/**
 * Returns the description of an answer with this status. Ignores `default`, because it would match
 * every status.
 */
function describedAnswer({ answers }: Operation, status: number): DescribedAnswer | undefined {
  return answers[String(status)];
}

function fitsHeader(judge: SchemaJudge, schema: object, value: string): boolean {
  const number = /^-?\d+$/.test(value) ? Number(value) : value;
  return judge.faultsOf(schema, value).length === 0 || judge.faultsOf(schema, number).length === 0;
}

/**
 * Replaces list indexes and ids in the path of a schema violation, so that equal violations are
 * counted together.
 */
function withoutNumbers(fault: string): string {
  return fault.replaceAll(/\/\d+(?=[/ ])/g, "/*").replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "<id>");
}
