interface ExchangeLimits {
  /** For everything: looking names up, connecting, every redirect and the last byte of the body. */
  readonly totalMs: number;
  /** For each connection, TLS included. Default 5 s. */
  readonly connectMs?: number;
  /** The longest body; default no limit. */
  readonly maxBytes?: number;
  readonly signal?: AbortSignal;
}

interface Get extends ExchangeLimits {
  readonly method: "GET";
  readonly url: string;
  /** Sent to the first host only. */
  readonly headers?: Readonly<Record<string, string>>;
  /** How many redirects are followed. Without it a redirect is an answer like any other. */
  readonly redirects?: number;
}

interface Post extends ExchangeLimits {
  readonly method: "POST";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A request to an address that a customer named. Redirects of a POST are never followed. */
export type OutboundRequest = Get | Post;

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** An answer whose body may not have come yet. Disposing closes the connection, whatever is left of it. */
export interface OutboundAnswer extends AsyncDisposable {
  readonly status: number;
  readonly headers: Headers;
  /** Where it came from, after redirects. */
  readonly url: URL;
  /** Read at most once, as it was sent: nothing is decoded. Reading it throws OutboundError too. */
  readonly body: AsyncIterable<Uint8Array>;
}
