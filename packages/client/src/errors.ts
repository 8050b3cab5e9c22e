import type { DetailCode, ErrorCode, PostDetail } from "../gen/openapi.ts";

/** One thing that is wrong with a request. Which further fields it has depends on its code. */
export interface ErrorDetail {
  /**
   * The error code. It never changes its meaning. The known codes are listed; later versions of the
   * API can add more.
   */
  readonly code: DetailCode | (string & {});
  readonly message: string;
  /**
   * JSON Pointer to the field of the request body; if `in` is set, the name of a query parameter or
   * header instead.
   */
  readonly path?: string;
  readonly in?: "query" | "header" | (string & {});
  /** Id of the account of the target that the error detail is about. */
  readonly accountId?: string;
  readonly platform?: string;
  /** Description of a value that would be accepted. */
  readonly expected?: string;
  readonly allowed?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  /**
   * What the client sent: a short value as JSON, a header or an HTTP method as it is, and only the
   * type of a longer value.
   */
  readonly found?: string;
  /** The limit that was exceeded, and the actual value, in the unit `unit`. */
  readonly limit?: number;
  readonly actual?: number;
  readonly unit?: string;
  /**
   * The status of the object that the request is about, or the HTTP status with which another
   * server answered Postrider.
   */
  readonly status?: string | number;
  readonly reason?: string;
  /** Id of the post that prevents the operation. */
  readonly postId?: string;
  readonly [field: string]: unknown;
}

interface ErrorFields {
  readonly code: string;
  readonly message: string;
  readonly status: number;
  readonly details: readonly ErrorDetail[];
  readonly requestId: string | null;
  readonly retryAfterSeconds: number | null;
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
  /** HTTP status of the answer. */
  readonly status: number;
  readonly details: readonly ErrorDetail[];
  /** Id of the request; quote it when you report a problem. */
  readonly requestId: string | null;
  /** Seconds after which the request may succeed, if the answer said so. */
  readonly retryAfterSeconds: number | null;

  constructor({ code, message, status, details, requestId, retryAfterSeconds }: ErrorFields) {
    super(message);
    this.code = code;
    this.status = status;
    this.details = details;
    this.requestId = requestId;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/**
 * No answer arrived, so it is not known whether the request was carried out. The `cause` says why.
 */
export class PostriderConnectionError extends Error {
  override readonly name = "PostriderConnectionError";
  /**
   * The idempotency key of the request. The same call with this key is carried out once, however
   * often it is sent.
   */
  readonly idempotencyKey: string | undefined;

  constructor(request: string, cause: unknown, idempotencyKey?: string) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(`no answer to ${request}: ${reason}`, { cause });
    this.idempotencyKey = idempotencyKey;
  }
}

/**
 * A post was still being published, or still waiting for its time, when the time limit of
 * `waitForPost` had passed.
 */
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

/** `Retry-After` can also be a date. */
function retryAfterOf(headers: Headers): number | null {
  const value = headers.get("retry-after");
  if (value === null) return null;
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? null : Math.max(0, Math.ceil(seconds));
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
  });
}
