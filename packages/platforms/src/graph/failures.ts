import type { NoAnswer } from "#src/http/http.ts";
import type { PlatformAnswer } from "#src/http/platform-answer.ts";
import type { Failure, TargetErrorCode, Unknown } from "#src/publishing/connector.ts";
import { readGraphError, type GraphError } from "./graph-error.ts";
import { limitedForMs } from "./usage.ts";

/**
 * What an error means for a post: a code of ours = refused for good · `token` · `limit` = wait · `transient` = nothing
 * definite, whatever was called · `missing` = not there or not for us, which proves nothing.
 */
export type GraphMeaning = TargetErrorCode | "token" | "limit" | "transient" | "missing";

/** By `code/subcode`, or by a number that is met as subcode or as code. */
export type GraphMeanings = Readonly<Record<string, GraphMeaning>>;

/** What the platforms of the Graph API have in common (platforms reference 1.7 and 3.7). */
const COMMON: GraphMeanings = {
  "190/459": "account_action_needed",
  190: "token",
  102: "token",
  3: "app_configuration",
  10: "permission_missing",
  4: "limit",
  17: "limit",
  32: "limit",
  341: "limit",
  613: "limit",
  80001: "limit",
  80002: "limit",
  368: "account_action_needed",
  1: "transient",
  2: "transient",
  "100/33": "missing",
  100: "content_rejected",
};

/** Statuses of which nobody knows whether the call was done; a proxy may have made them. */
const AMBIGUOUS = new Set([408, 409, 425, 429]);

function meaningOf(own: GraphMeanings, error: GraphError): GraphMeaning {
  const { code, subcode } = error;
  const names = [`${code}/${subcode}`, String(subcode), String(code)];
  for (const name of names) {
    const meaning = own[name] ?? COMMON[name];
    if (meaning !== undefined) return meaning;
  }
  if (code >= 200 && code <= 299) return "permission_missing";
  return error.isTransient ? "transient" : "content_rejected";
}

/** What a parsed error means; undefined when it says nothing definite. */
export function toGraphFailure(answer: PlatformAnswer, own: GraphMeanings): Failure | undefined {
  const error = readGraphError(answer);
  if (error === undefined) return undefined;
  const { message } = error;
  const meaning = meaningOf(own, error);
  if (meaning === "transient" || meaning === "missing") return undefined;
  if (meaning === "token") return { kind: "token_refused", message };
  if (meaning !== "limit") return { kind: "refused", code: meaning, message };
  const retryAfterMs = limitedForMs(answer);
  return { kind: "retryable", code: "rate_limited", message, retryAfterMs, isLimit: true };
}

/** Whether the object is not there, or not for us: the platform does not say which. */
export function isMissing(answer: PlatformAnswer): boolean {
  const error = readGraphError(answer);
  return error !== undefined && error.code === 100 && error.subcode === 33;
}

function describe(answer: PlatformAnswer): string {
  return readGraphError(answer)?.message ?? `HTTP ${answer.status} without a readable answer`;
}

/** A call that made nothing visible did not do what it should; what is not definite is tried again. */
export function toStepFailure(answer: PlatformAnswer | NoAnswer, own: GraphMeanings): Failure {
  if (answer.kind === "no_answer")
    return { kind: "retryable", code: "platform_unavailable", message: answer.message };
  const failure = toGraphFailure(answer, own);
  return failure ?? { kind: "retryable", code: "platform_unavailable", message: describe(answer) };
}

/** A visible call was answered, but not with a success. Only a parsed refusal is definite. */
export function toVisibleFailure(answer: PlatformAnswer, own: GraphMeanings): Failure | Unknown {
  const isParsed = answer.status >= 400 && answer.status < 500 && !AMBIGUOUS.has(answer.status);
  const failure = isParsed ? toGraphFailure(answer, own) : undefined;
  if (failure !== undefined) return failure;
  const message = describe(answer);
  return answer.status === 429
    ? { kind: "unknown", message, limitedForMs: limitedForMs(answer) }
    : { kind: "unknown", message };
}
