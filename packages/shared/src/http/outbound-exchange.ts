interface ExchangeLimits {
  /**
   * Maximum time for the whole outbound request: DNS lookup, connecting, every redirect and the whole body. Then the
   * request fails.
   */
  readonly totalMs: number;
  /** Maximum time to connect to the customer's host, including TLS. Then the request fails. Default: 5 s. */
  readonly connectMs?: number;
  /** Maximum size of the response body in bytes; reading a larger body fails. Default: no limit. */
  readonly maxBytes?: number;
  readonly signal?: AbortSignal;
}

interface Get extends ExchangeLimits {
  readonly method: "GET";
  readonly url: string;
  /** Headers of the outbound request. They are not sent to another origin after a redirect. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Maximum number of redirects to follow; one more makes the request fail. If it is absent, the caller receives the
   * redirect as the response.
   */
  readonly redirects?: number;
}

interface Post extends ExchangeLimits {
  readonly method: "POST";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A request to a customer's URL. Redirects of a POST are never followed. */
export type OutboundRequest = Get | Post;

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** An HTTP response whose body may not have arrived yet. Disposing of it closes the connection. */
export interface OutboundAnswer extends AsyncDisposable {
  readonly status: number;
  readonly headers: Headers;
  /** The URL that sent the response, after redirects. */
  readonly url: URL;
  /** The response body as it was sent, not decoded. It can be read once; reading may throw OutboundError. */
  readonly body: AsyncIterable<Uint8Array>;
}
