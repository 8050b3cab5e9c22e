export type AttemptError =
  /** The attempt exceeded its deadline before the headers of a response arrived. */
  | "timeout"
  /** The connection was refused or broke, or the response is not HTTP. */
  | "connection_failed"
  /** TLS failed, for example because the certificate is invalid. */
  | "tls_failed"
  /** The host name has no address that is public; also when it does not exist. */
  | "dns_failed"
  | "address_not_allowed"
  | "redirect_refused"
  /** The receiver answered with another status than 2xx. */
  | "http_error"
  /** The headers arrived, but the body did not end before the deadline. */
  | "body_timeout"
  /** The headers of the response are longer than 16 KiB. */
  | "too_large_headers";

export interface Attempt {
  readonly startedAt: Date;
  readonly durationMs: number;
  readonly statusCode: number | null;
  readonly error: AttemptError | null;
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly responseHeaders: Readonly<Record<string, string>> | null;
  /** Body of the response, at most 16 KiB, and 2 KiB of a 2xx response; null without a response. */
  readonly responseBody: string | null;
}

export type AttemptOutcome =
  | { readonly kind: "succeeded" }
  /** The receiver answered 410: it wants no more deliveries. */
  | { readonly kind: "gone" }
  /** The receiver answered otherwise; `pauseMs` is how long it asks to be left alone. */
  | { readonly kind: "refused"; readonly pauseMs: number }
  /** The receiver gave no HTTP response. */
  | { readonly kind: "unanswered" };

const SECOND = 1000;
/** A longer pause that a receiver asks for has this maximum. */
const MAX_PAUSE_MS = 24 * 3_600_000;

const HTTP_DATE =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * At most 24 h, and 0 without a header, with a time in the past or with a value that is neither
 * seconds nor an HTTP date (RFC 9110, section 10.2.3).
 */
export function parseRetryAfter(header: string | undefined, now: Date): number {
  const text = header?.trim() ?? "";
  const isSeconds = /^\d+$/.test(text);
  if (!isSeconds && !HTTP_DATE.test(text)) return 0;
  const ms = isSeconds ? Number(text) * SECOND : Date.parse(text) - now.getTime();
  return Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, 0), MAX_PAUSE_MS);
}

export function toOutcome(
  { error, statusCode, responseHeaders }: Attempt,
  now: Date,
): AttemptOutcome {
  if (error === null) return { kind: "succeeded" };
  if (statusCode === null) return { kind: "unanswered" };
  if (statusCode === 410) return { kind: "gone" };
  const mayPause = statusCode === 429 || statusCode === 503;
  const pauseMs = mayPause ? parseRetryAfter(responseHeaders?.["retry-after"], now) : 0;
  return { kind: "refused", pauseMs };
}
