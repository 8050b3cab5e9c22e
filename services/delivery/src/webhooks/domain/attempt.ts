/** Why a webhook attempt failed, as customers see it. */
export type AttemptError =
  /** The attempt exceeded its deadline before the headers of a response arrived. */
  | "timeout"
  /** The connection was refused or broke, or the response is not HTTP. */
  | "connection_failed"
  /** TLS failed, for example because the certificate is invalid. */
  | "tls_failed"
  /** The host name has no address that is public; also when it does not exist. */
  | "dns_failed"
  /** The IP address in the URL is not public. */
  | "address_not_allowed"
  /** The receiver answered with a redirect. */
  | "redirect_refused"
  /** The receiver answered with another status than 2xx. */
  | "http_error"
  /** The headers arrived, but the body did not end before the deadline. */
  | "body_timeout"
  /** The headers of the response are longer than 16 KiB. */
  | "too_large_headers";

/** A request to the endpoint of a webhook subscription that has got its answer or failed. */
export interface Attempt {
  readonly startedAt: Date;
  readonly durationMs: number;
  /** HTTP status of the response; null without a response. */
  readonly statusCode: number | null;
  /** Why the webhook attempt failed; null after a success. */
  readonly error: AttemptError | null;
  readonly requestHeaders: Readonly<Record<string, string>>;
  /** Headers of the response with names in lower case; null without a response. */
  readonly responseHeaders: Readonly<Record<string, string>> | null;
  /** Body of the response, at most 16 KiB, and 2 KiB of a 2xx response; null without a response. */
  readonly responseBody: string | null;
}

/** What a webhook attempt means for its delivery and its subscription. */
export type AttemptOutcome =
  | { readonly kind: "succeeded" }
  /** The receiver answered 410: it wants no more deliveries. */
  | { readonly kind: "gone" }
  /** The receiver answered otherwise; `pauseMs` is how long it asks to be left alone. */
  | { readonly kind: "refused"; readonly pauseMs: number }
  /** The receiver gave no HTTP response. */
  | { readonly kind: "unanswered" };
