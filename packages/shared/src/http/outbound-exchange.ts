interface ExchangeLimits {
  /** DNS, connecting, every redirect and the whole body. */
  readonly totalMs: number;
  readonly connectMs?: number;
  readonly maxBytes?: number;
  readonly signal?: AbortSignal;
}

interface Get extends ExchangeLimits {
  readonly method: "GET";
  readonly url: string;
  /** Not sent to another origin after a redirect. */
  readonly headers?: Readonly<Record<string, string>>;
  /** If absent, the caller receives the redirect as the response. */
  readonly redirects?: number;
}

interface Post extends ExchangeLimits {
  readonly method: "POST";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Redirects of a POST are never followed. */
export type OutboundRequest = Get | Post;

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** The body may not have arrived yet. Disposing closes the connection. */
export interface OutboundAnswer extends AsyncDisposable {
  readonly status: number;
  readonly headers: Headers;
  /** Final URL after redirects. */
  readonly url: URL;
  /** Not decoded. It can be read once; reading may throw OutboundError. */
  readonly body: AsyncIterable<Uint8Array>;
}

export type OutboundFailure =
  /** Not http(s), or with a user name. */
  | "url_invalid"
  /** The address, or one of those of the host name, is not public. */
  | "address_not_allowed"
  /** No address, no connection in time, or TLS fails. Nothing was sent. */
  | "unreachable"
  /** The connection broke, or the response is not HTTP. */
  | "broken"
  | "timed_out"
  /** Too many redirects, or one from https to http or to something else than http(s). */
  | "redirect_refused"
  | "too_large";

/** Customers must not learn what exists in our network: a private address does not answer. */
const MESSAGES = {
  url_invalid: "this is not an http or https URL",
  address_not_allowed: "the address cannot be reached",
  unreachable: "the address cannot be reached",
  broken: "the connection broke before the answer was complete",
  timed_out: "the answer was not complete in time",
  redirect_refused: "the address redirects too often, or to a target that is not followed",
  too_large: "the answer is too long",
} satisfies Record<OutboundFailure, string>;

/** The message is for customers and contains no address, network or library details. */
export class OutboundError extends Error {
  override name = "OutboundError";
  readonly failure: OutboundFailure;
  /** A customer must not learn which names exist in our network. */
  readonly isResolved: boolean;

  constructor(
    failure: OutboundFailure,
    {
      isResolved = false,
      ...options
    }: { readonly cause?: unknown; readonly isResolved?: boolean } = {},
  ) {
    super(MESSAGES[failure], options);
    this.failure = failure;
    this.isResolved = isResolved;
  }
}
