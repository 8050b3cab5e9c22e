import { AsyncLocalStorage } from "node:async_hooks";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Caller } from "#src/routes/dependencies.ts";

export interface ToolRequest {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Path and query of the operation, without `/api/v1`. */
  readonly path: string;
  readonly body?: object;
  readonly idempotencyKey?: string;
  /** The ETag that the resource must still have; otherwise the operation fails. */
  readonly ifMatch?: string;
  /** Whether it fails if the post changed since the previous request of the same tool. */
  readonly isForSameVersion?: boolean;
}

export interface ToolAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Readonly<Record<string, unknown>>;
}

interface Agent {
  readonly caller: Caller;
  readonly gone: AbortSignal;
}

const storage = new AsyncLocalStorage<Agent>();

/**
 * Returns the caller of the agent's request when a request was made by `callOperation`; undefined
 * for any other request.
 */
export function findToolCaller(): Caller | undefined {
  return storage.getStore()?.caller;
}

/**
 * Returns the signal that is aborted when the agent behind an internal request disconnects;
 * undefined for other requests.
 */
export function findAgentSignal(): AbortSignal | undefined {
  return storage.getStore()?.gone;
}

/**
 * Sends a request through all checks and the handler of an operation, in this process. The caller
 * was admitted with the request of the agent, which counted towards the rate limit; scopes, schemas
 * and rules apply as to any other request.
 */
export async function callOperation(
  app: FastifyInstance,
  outer: FastifyRequest,
  caller: Caller,
  { method, path, body, idempotencyKey, ifMatch }: ToolRequest,
): Promise<ToolAnswer> {
  const language = outer.headers["accept-language"];
  const { socket } = outer.raw;
  const gone = new AbortController();
  const end = (): void => gone.abort();
  socket.once("close", end);
  const agent = { caller, gone: gone.signal };
  // `inject` sends the request only when its result is awaited. So it is awaited inside of this
  // function, where the request's caller is known.
  const send = async () =>
    await app.inject({
      method,
      url: `/api/v1${path}`,
      remoteAddress: outer.ip,
      headers: {
        "x-request-id": outer.id,
        ...(language === undefined ? {} : { "accept-language": language }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(ifMatch === undefined ? {} : { "if-match": ifMatch }),
        ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
      },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    });
  const answer = await storage.run(agent, send).finally(() => socket.off("close", end));
  const text = answer.body;
  return {
    status: answer.statusCode,
    headers: answer.headers,
    body: text === "" ? {} : (JSON.parse(text) as Readonly<Record<string, unknown>>),
  };
}
