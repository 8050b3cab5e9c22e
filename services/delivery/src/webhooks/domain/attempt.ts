/** Why an attempt failed, as customers see it. */
export type AttemptError =
  /** The attempt exceeded its deadline before the headers of a response arrived. */
  | "timeout"
  /** The connection was refused or broke, or the response is not HTTP. */
  | "connection_failed"
  /** TLS failed, for example because the certificate is invalid. */
  | "tls_failed"
  /** The host name has no address. */
  | "dns_failed"
  /** The address is not public. */
  | "address_not_allowed"
  /** The receiver answered with a redirect. */
  | "redirect_refused"
  /** The receiver answered with another status than 2xx. */
  | "http_error"
  /** The headers arrived, but the body did not end before the deadline. */
  | "body_timeout"
  /** The headers of the response are longer than 16 KiB. */
  | "too_large_headers";

/** One request to the endpoint of a subscription that has ended. */
export interface Attempt {
  readonly startedAt: Date;
  readonly durationMs: number;
  /** Null without a response. */
  readonly statusCode: number | null;
  /** Null after a success. */
  readonly error: AttemptError | null;
  readonly requestHeaders: Readonly<Record<string, string>>;
  /** Names in lower case; null without a response. */
  readonly responseHeaders: Readonly<Record<string, string>> | null;
  /** At most 16 KiB; null without a response. */
  readonly responseBody: string | null;
}

/** What an attempt means for its delivery and its subscription. */
export type AttemptOutcome =
  | { readonly kind: "succeeded" }
  /** The receiver answered 410: it wants no more deliveries. */
  | { readonly kind: "gone" }
  /** The receiver answered otherwise; `pauseMs` is how long it asks to be left alone. */
  | { readonly kind: "refused"; readonly pauseMs: number }
  /** The receiver gave no HTTP response. */
  | { readonly kind: "unanswered" };
