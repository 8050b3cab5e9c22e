import type { Readable } from "node:stream";
import { Client } from "undici";
import {
  type OutboundAnswer,
  OutboundError,
  type OutboundFailure,
  type OutboundRequest,
} from "#src/http/outbound-exchange.ts";
import {
  mayConnect,
  type OutboundRules,
  type OutboundUrl,
  parseOutboundUrl,
} from "#src/http/outbound-rules.ts";
import { connectPinned } from "#src/http/pinned-connection.ts";
import { createNameResolver, type ResolveName } from "#src/http/resolver.ts";

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/**
 * Undefined when the response is not a redirect. Closes that of a redirect.
 *
 * @throws OutboundError `redirect_refused` for a target that is not http(s) and from https to http,
 *   `address_not_allowed` as for any URL.
 */
async function followRedirect(
  from: OutboundUrl,
  answer: OutboundAnswer,
  rules: OutboundRules,
): Promise<OutboundUrl | undefined> {
  if (!REDIRECTS.has(answer.status)) return undefined;
  await answer[Symbol.asyncDispose]();
  const { location } = answer.headers;
  const url = typeof location === "string" ? URL.parse(location, from.url.href) : null;
  if (url === null) throw new OutboundError("redirect_refused");
  if (from.url.protocol === "https:" && url.protocol === "http:")
    throw new OutboundError("redirect_refused");
  try {
    return parseOutboundUrl(url.href, rules);
  } catch (error) {
    if (error instanceof OutboundError && error.failure === "url_invalid")
      throw new OutboundError("redirect_refused");
    throw error;
  }
}

export interface OutboundClientOptions extends OutboundRules {
  readonly resolve?: ResolveName;
  /** PEM; trusted instead of what Node trusts by itself. */
  readonly ca?: string;
}

const CONNECT_MS = 5000;
const MAX_HEADER_BYTES = 16 * 1024;
const BASE_HEADERS = { accept: "*/*", "user-agent": "Postrider", "accept-encoding": "identity" };

interface Hop {
  readonly request: OutboundRequest;
  readonly headers: Readonly<Record<string, string>>;
  readonly deadline: Deadline;
}

/**
 * Sends requests to URLs of customers, over HTTP/1.1 with a new connection each. It connects only
 * to public addresses that the operator does not deny and to those that the operator allows,
 * whatever the DNS answers and wherever redirects lead. Proxies in the environment are ignored.
 */
export class OutboundClient {
  readonly #rules: OutboundRules;
  readonly #resolve: ResolveName;
  readonly #ca: string | undefined;

  constructor({ resolve = createNameResolver(), ca, ...rules }: OutboundClientOptions) {
    this.#rules = rules;
    this.#resolve = resolve;
    this.#ca = ca;
  }

  /** @throws OutboundError, or the reason of the caller's signal. */
  async send(request: OutboundRequest): Promise<OutboundAnswer> {
    let target = parseOutboundUrl(request.url, this.#rules);
    const deadline = new Deadline(request.totalMs, request.signal);
    let headers = { ...BASE_HEADERS, ...request.headers };
    try {
      for (let followed = 0; ; followed += 1) {
        const answer = await this.#exchange(target, { request, headers, deadline });
        const next = await this.#follow(request, target, answer);
        if (next === undefined) return withDeadline(answer, deadline);
        if ("redirects" in request && followed === request.redirects)
          throw new OutboundError("redirect_refused");
        if (next.url.origin !== target.url.origin) headers = BASE_HEADERS;
        target = next;
      }
    } catch (error) {
      deadline[Symbol.dispose]();
      throw error;
    }
  }

  async #follow(
    request: OutboundRequest,
    target: OutboundUrl,
    answer: OutboundAnswer,
  ): Promise<OutboundUrl | undefined> {
    if (request.method !== "GET" || request.redirects === undefined) return undefined;
    return await followRedirect(target, answer, this.#rules);
  }

  async #exchange(target: OutboundUrl, hop: Hop): Promise<OutboundAnswer> {
    const { request, headers, deadline } = hop;
    const addresses = await this.#addressesOf(target, deadline);
    const client = this.#createClient(target, addresses, hop);
    // While undici connects, it ignores the signal, so the client is destroyed.
    const abort = () => void client.destroy(deadline.signal.reason as Error);
    deadline.signal.addEventListener("abort", abort);
    const close = async () => {
      deadline.signal.removeEventListener("abort", abort);
      await client.destroy();
    };
    try {
      const answer = await client.request({
        method: request.method,
        path: target.url.pathname + target.url.search,
        headers,
        body: request.method === "POST" ? request.body : null,
        signal: deadline.signal,
        reset: true,
      });
      // Without this listener, an error of a body that is not read would end the process.
      answer.body.on("error", () => undefined);
      return {
        status: answer.statusCode,
        headers: answer.headers,
        url: target.url,
        body: readBody(answer.body, request.maxBytes, deadline.signal),
        [Symbol.asyncDispose]: close,
      };
    } catch (error) {
      await close();
      throw toOutboundError(error, deadline.signal, "broken");
    }
  }

  #createClient({ url, hostname, port }: OutboundUrl, addresses: readonly string[], hop: Hop) {
    const { deadline, request } = hop;
    const options = {
      ...this.#rules,
      connectMs: request.connectMs ?? CONNECT_MS,
      signal: deadline.signal,
      ca: this.#ca,
    };
    const tls = url.protocol === "https:";
    return new Client(url.origin, {
      connect: (_options, callback) => {
        connectPinned({ hostname, addresses, port, tls }, options).then(
          (socket) => callback(null, socket),
          (error: Error) => callback(error, null),
        );
      },
      allowH2: false,
      maxHeaderSize: MAX_HEADER_BYTES,
      // The deadline limits the whole exchange.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  async #addressesOf(target: OutboundUrl, deadline: Deadline): Promise<readonly string[]> {
    if (target.isLiteral) return [target.hostname];
    const addresses = await this.#lookUp(target.hostname, deadline);
    if (!addresses.every((address) => mayConnect(this.#rules, address, target.port)))
      throw new OutboundError("address_not_allowed");
    return addresses;
  }

  async #lookUp(hostname: string, deadline: Deadline): Promise<readonly string[]> {
    try {
      const addresses = await deadline.race(this.#resolve(hostname, deadline.signal));
      if (addresses.length === 0) throw new Error("the name has no address");
      return addresses;
    } catch (error) {
      throw toOutboundError(error, deadline.signal, "unreachable");
    }
  }
}

function withDeadline(answer: OutboundAnswer, deadline: Deadline): OutboundAnswer {
  return {
    ...answer,
    async [Symbol.asyncDispose]() {
      deadline[Symbol.dispose]();
      await answer[Symbol.asyncDispose]();
    },
  };
}

async function* readBody(
  body: Readable,
  maxBytes = Number.POSITIVE_INFINITY,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  let bytes = 0;
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw new OutboundError("too_large");
      yield chunk;
    }
  } catch (error) {
    throw toOutboundError(error, signal, "broken");
  }
}

/** If the signal has fired, its reason: any other error is a consequence of the abort. */
function toOutboundError(error: unknown, signal: AbortSignal, otherwise: OutboundFailure): Error {
  if (signal.aborted) return signal.reason as Error;
  return error instanceof OutboundError ? error : new OutboundError(otherwise, { cause: error });
}

class Deadline implements Disposable {
  readonly signal: AbortSignal;
  readonly #timer: NodeJS.Timeout;

  constructor(totalMs: number, callerSignal: AbortSignal | undefined) {
    const controller = new AbortController();
    this.#timer = setTimeout(() => controller.abort(new OutboundError("timed_out")), totalMs);
    this.signal =
      callerSignal === undefined
        ? controller.signal
        : AbortSignal.any([controller.signal, callerSignal]);
  }

  async race<T>(work: Promise<T>): Promise<T> {
    const { promise, reject } = Promise.withResolvers<never>();
    // Every caller aborts with an error.
    const onAbort = () => reject(this.signal.reason as Error);
    this.signal.addEventListener("abort", onAbort);
    try {
      this.signal.throwIfAborted();
      return await Promise.race([work, promise]);
    } finally {
      this.signal.removeEventListener("abort", onAbort);
      work.catch(() => undefined);
    }
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}
