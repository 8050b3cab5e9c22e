import type { DetailCode, ErrorCode, PostDetail } from "../gen/openapi.ts";

/** One thing that is wrong with a request. Which further fields it has depends on its code. */
export interface ErrorDetail {
  /** It never changes its meaning. Later versions of the API can add codes. */
  readonly code: DetailCode | (string & {});
  readonly message: string;
  /** JSON Pointer into the request body; if `in` is set, the name of a parameter or header. */
  readonly path?: string;
  readonly in?: "query" | "header" | (string & {});
  readonly accountId?: string;
  readonly platform?: string;
  /** A value that would be accepted. */
  readonly expected?: string;
  readonly allowed?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  /** A short value as JSON, a header or HTTP method as it is, else only the type of the value. */
  readonly found?: string;
  /** The limit that was exceeded, in the unit `unit`. */
  readonly limit?: number;
  readonly actual?: number;
  readonly unit?: string;
  /** Status of the requested object, or the HTTP status with which another server answered. */
  readonly status?: string | number;
  readonly reason?: string;
  /** Id of the post that prevents the operation. */
  readonly postId?: string;
  /** The cell that has the workspace, and its address. */
  readonly cell?: string;
  readonly address?: string;
  readonly [field: string]: unknown;
}

interface ErrorFields {
  readonly code: string;
  readonly message: string;
  readonly status: number;
  readonly details: readonly ErrorDetail[];
  readonly requestId: string | null;
  readonly retryAfterSeconds: number | null;
  readonly idempotencyKey?: string | undefined;
  readonly isNotCarriedOut?: boolean | undefined;
}

/** The API refused a request, or failed to carry it out. */
export class PostriderError extends Error {
  override readonly name = "PostriderError";
  /**
   * The error code, by which programs decide; it never changes its meaning. Two codes are made by
   * the client: `not_modified` for the status 304, which only a request with the header
   * `If-None-Match` gets, and `unexpected_answer` for an answer that Postrider did not write.
   */
  readonly code: ErrorCode | "not_modified" | "unexpected_answer" | (string & {});
  readonly status: number;
  readonly details: readonly ErrorDetail[];
  /** Id of the request; quote it when you report a problem. */
  readonly requestId: string | null;
  /** Seconds after which the request may succeed, if the answer said so. */
  readonly retryAfterSeconds: number | null;
  /**
   * Set when the call may have been carried out: the server failed, or an earlier request of the
   * call got no answer. The same call with this key is carried out once at most.
   */
  readonly idempotencyKey: string | undefined;
  /** Whether the answer says that nothing of this request was done; any call can be repeated. */
  readonly isNotCarriedOut: boolean;

  constructor({ code, message, status, details, ...fields }: ErrorFields) {
    super(message);
    this.code = code;
    this.status = status;
    this.details = details;
    this.requestId = fields.requestId;
    this.retryAfterSeconds = fields.retryAfterSeconds;
    this.idempotencyKey = fields.idempotencyKey;
    this.isNotCarriedOut = fields.isNotCarriedOut ?? false;
  }

  /** With the code `wrong_cell`: the base URL to which the request has to be sent. */
  get cellAddress(): string | null {
    return this.code === "wrong_cell" ? (this.details[0]?.address ?? null) : null;
  }
}

/** `fetch` says only that it failed; the code of what made it fail says why. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const inner = cause.cause;
  const code = inner instanceof Error && "code" in inner ? ` (${String(inner.code)})` : "";
  return `${cause.message}${code}`;
}

/**
 * No answer arrived, so it is not known whether the request was carried out. The `cause` says why.
 */
export class PostriderConnectionError extends Error {
  override readonly name = "PostriderConnectionError";
  /**
   * The same call with this key is carried out once, however often it is sent within 24 hours of
   * the first time. Undefined when they have almost passed: then look whether it was carried out.
   */
  readonly idempotencyKey: string | undefined;

  constructor(request: string, cause: unknown, idempotencyKey?: string) {
    super(`no answer to ${request}: ${reasonOf(cause)}`, { cause });
    this.idempotencyKey = idempotencyKey;
  }
}

/** The post was not final when the time limit of `waitForPost` had passed. */
export class PostWaitTimeoutError extends Error {
  override readonly name = "PostWaitTimeoutError";
  /** The post as the client read it last. */
  readonly post: PostDetail;

  constructor(post: PostDetail, timeoutMs: number) {
    super(`post ${post.id} is still "${post.status}" after ${timeoutMs} ms`);
    this.post = post;
  }
}

interface WireError {
  readonly error?: {
    readonly code?: string;
    readonly message?: string;
    readonly details?: readonly ErrorDetail[];
  };
}

/** Undefined for a body that Postrider did not write, such as the page of a proxy. */
function parse(text: string): WireError["error"] {
  try {
    const error = (JSON.parse(text) as WireError | null)?.error;
    return typeof error?.code === "string" ? error : undefined;
  } catch {
    return undefined;
  }
}

/** `Retry-After` can also be a date; null if there is none. */
function retryAfterOf(headers: Headers): number | null {
  const value = headers.get("retry-after");
  if (value === null) return null;
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? null : Math.max(0, Math.ceil(seconds));
}

/** Whether the request may have been carried out although it failed. */
export function mayBeCarriedOut(error: unknown): boolean {
  if (error instanceof PostriderConnectionError) return true;
  if (!(error instanceof PostriderError)) return false;
  if (error.isNotCarriedOut) return false;
  return error.status >= 500 || error.code === "idempotency_conflict";
}

export function withKey(error: unknown, idempotencyKey: string): unknown {
  if (!(error instanceof PostriderError)) return error;
  const { code, message, status, details, requestId, retryAfterSeconds, isNotCarriedOut } = error;
  const fields = { code, message, status, details, requestId, retryAfterSeconds, isNotCarriedOut };
  return new PostriderError({ ...fields, idempotencyKey });
}

/**
 * A rate limit refuses a request before any of it is done; of other refusals the answer says so.
 */
function isNotCarriedOut({ status, headers }: Response): boolean {
  return status === 429 || headers.get("x-postrider-carried-out") === "no";
}

export function toError(response: Response, text: string): PostriderError {
  const { status, headers } = response;
  const error = parse(text);
  return new PostriderError({
    code: error?.code ?? (status === 304 ? "not_modified" : "unexpected_answer"),
    message: error?.message ?? `unexpected answer with status ${status}`,
    status,
    details: error?.details ?? [],
    requestId: headers.get("x-request-id"),
    retryAfterSeconds: retryAfterOf(headers),
    isNotCarriedOut: isNotCarriedOut(response),
  });
}
