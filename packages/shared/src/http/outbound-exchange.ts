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
  /** After redirects. */
  readonly url: URL;
  /** Not decoded. It can be read once; reading may throw OutboundError. */
  readonly body: AsyncIterable<Uint8Array>;
}
