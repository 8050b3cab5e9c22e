import type { Missing } from "#src/comments/connector.ts";
import type { NoAnswer } from "#src/http/call-platform.ts";
import {
  describeStatus,
  header,
  object,
  type PlatformAnswer,
  shorten,
  text,
} from "#src/http/platform-answer.ts";
import {
  type Failure,
  limitReached,
  platformUnavailable,
  type TargetErrorCode,
  type Unknown,
} from "#src/publishing/outcome.ts";

const MINUTE_MS = 60_000;
/** Limits per hour or per day recover gradually, so a retry may succeed early. */
const DEFAULT_WAIT_MS = 5 * MINUTE_MS;

function parse(json: string | undefined): unknown {
  try {
    return JSON.parse(json ?? "null");
  } catch {
    return null;
  }
}

function minutesOf(entry: unknown): number {
  const minutes = (entry as { estimated_time_to_regain_access?: unknown } | null)
    ?.estimated_time_to_regain_access;
  return typeof minutes === "number" ? minutes : 0;
}

function limitedForMs(answer: PlatformAnswer): number {
  const usage = parse(header(answer, "x-business-use-case-usage"));
  const entries = typeof usage === "object" && usage !== null ? Object.values(usage).flat() : [];
  const minutes = Math.max(0, ...entries.map(minutesOf));
  return minutes > 0 ? Math.max(1000, minutes * MINUTE_MS) : DEFAULT_WAIT_MS;
}

interface GraphError {
  readonly code: number;
  readonly subcode: number;
  readonly message: string;
  readonly isTransient: boolean;
}

export function readGraphError(answer: PlatformAnswer): GraphError | undefined {
  const error = object(answer.json, "error");
  const code = error?.code;
  if (error === undefined || typeof code !== "number") return undefined;
  const subcode = typeof error.error_subcode === "number" ? error.error_subcode : 0;
  const message = text(error, "error_user_msg") ?? text(error, "message");
  return { code, subcode, message: shorten(message), isTransient: error.is_transient === true };
}

/**
 * What a Graph API error means for a post: a target error code (for example `content_rejected`) =
 * permanently refused · `token` = the token is invalid · `limit` = rate limit, wait · `transient` =
 * temporary error; the outcome of the call is not known · `missing` = the requested post or file
 * does not exist or is not accessible, so its existence is not known.
 */
export type GraphMeaning = TargetErrorCode | "token" | "limit" | "transient" | "missing";

export type GraphMeanings = Readonly<Record<string, GraphMeaning>>;

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

/**
 * HTTP statuses that do not show whether Facebook or Instagram carried out a call, because a proxy
 * may have sent them.
 */
const AMBIGUOUS = new Set([408, 409, 425, 429]);

const NO_PERMISSION = /no permission to publish/i;

function meaningOf(own: GraphMeanings, error: GraphError): GraphMeaning {
  const { code, subcode } = error;
  if (code === 100 && NO_PERMISSION.test(error.message)) return "permission_missing";
  const names = [`${code}/${subcode}`, String(subcode), String(code)];
  for (const name of names) {
    const meaning = own[name] ?? COMMON[name];
    if (meaning !== undefined) return meaning;
  }
  if (code >= 200 && code <= 299) return "permission_missing";
  return error.isTransient ? "transient" : "content_rejected";
}

/** Whether the same call may succeed later; the HTTP status of a limit is often 400 or 403. */
export function isTemporary(answer: PlatformAnswer): boolean {
  const error = readGraphError(answer);
  if (error === undefined) return false;
  const meaning = meaningOf({}, error);
  return error.isTransient || meaning === "limit" || meaning === "transient";
}

/** Undefined when the error does not show whether the call took effect. */
export function toGraphFailure(answer: PlatformAnswer, own: GraphMeanings): Failure | undefined {
  const error = readGraphError(answer);
  if (error === undefined) return undefined;
  const { message } = error;
  const meaning = meaningOf(own, error);
  if (meaning === "transient" || meaning === "missing") return undefined;
  if (meaning === "token") return { kind: "token_refused", message };
  if (meaning !== "limit") return { kind: "refused", code: meaning, message };
  return limitReached("rate_limited", message, limitedForMs(answer));
}

/** The Graph API does not distinguish a missing post from one that is not accessible. */
export function isMissing(answer: PlatformAnswer): boolean {
  const error = readGraphError(answer);
  return error !== undefined && error.code === 100 && error.subcode === 33;
}

function describe(answer: PlatformAnswer): string {
  return readGraphError(answer)?.message ?? describeStatus(answer);
}

/** A preparation step makes nothing visible, so it is retried after an unclear answer. */
export function toStepFailure(answer: PlatformAnswer | NoAnswer, own: GraphMeanings): Failure {
  if (answer.kind === "no_answer") return platformUnavailable(answer.message);
  return toGraphFailure(answer, own) ?? platformUnavailable(describe(answer));
}

/** Only a parsed error of the platform proves that the post was not created. */
export function toVisibleFailure(answer: PlatformAnswer, own: GraphMeanings): Failure | Unknown {
  const isParsed = answer.status >= 400 && answer.status < 500 && !AMBIGUOUS.has(answer.status);
  const failure = isParsed ? toGraphFailure(answer, own) : undefined;
  if (failure !== undefined) return failure;
  const message = describe(answer);
  return answer.status === 429
    ? { kind: "unknown", message, limitedForMs: limitedForMs(answer) }
    : { kind: "unknown", message };
}

/**
 * The Graph API gives the same answer for an object that does not exist and for one of another
 * account.
 */
export function toReadFailure(
  answer: PlatformAnswer | NoAnswer,
  own: GraphMeanings,
): Missing | Failure {
  return answer.kind === "answer" && isMissing(answer)
    ? { kind: "missing" }
    : toStepFailure(answer, own);
}
