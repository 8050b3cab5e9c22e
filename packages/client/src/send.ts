import { KEYED, OPERATIONS, type Operations } from "../gen/operations.ts";
import { mayBeCarriedOut, PostriderConnectionError, toError, withKey } from "./errors.ts";
import type { RequestOptions } from "./operation-types.ts";
import { repeat } from "./repeat.ts";
import { withoutNulls } from "./without-nulls.ts";

export interface ClientOptions {
  /** For example `https://postrider.example.com`. */
  readonly baseUrl: string;
  /** Null for a web page on the same origin, which the cookie of a session authenticates. */
  readonly apiKey: string | null;
  /** Needed if the API key belongs to several workspaces. */
  readonly workspaceId?: string | undefined;
  /** Time limit of the call and of each repetition. Default: 30 s; more if a file is checked. */
  readonly timeoutMs?: number | undefined;
  /** Default: 4. */
  readonly maxRetries?: number | undefined;
  /**
   * Whether the API key may be sent to the address that an answer with the code `wrong_cell` names,
   * which is then that of all further calls for the same workspace. Default: no.
   */
  readonly followCells?: boolean | undefined;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
}

type OperationId = keyof Operations;

export interface Call {
  readonly id: OperationId;
  readonly path: readonly string[];
  readonly input: unknown;
  readonly options: RequestOptions;
}

const TIMEOUT_MS = 30_000;
/** Time limits of operations that download or check a whole file. */
const LONG_TIMEOUTS_MS: Readonly<Partial<Record<OperationId, number>>> = {
  completeUpload: 150_000,
  importMedia: 150_000,
};
export const MAX_RETRIES = 4;

/**
 * The server keeps an idempotency key for 24 hours and carries out a request that comes with it
 * later. A computer that wakes up after days would repeat such a request.
 */
const MAX_KEY_AGE_MS = 23 * 3_600_000;

/** They change nothing when they are repeated, although they accept no idempotency key. */
const REPEATABLE = new Set<OperationId>(["validatePost", "completeUpload"]);
const keyed = new Set(KEYED);

function createKey(): string {
  // `crypto.randomUUID` is missing on web pages that were not loaded by HTTPS.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Its repetitions have the same key, also those in the cell to which the workspace moved. */
export function withIdempotencyKey(call: Call): Call {
  const { id, options } = call;
  if (!keyed.has(id) || options.idempotencyKey !== undefined) return call;
  return { ...call, options: { ...options, idempotencyKey: createKey() } };
}

function toUrl(baseUrl: string, template: string, ids: readonly string[], query: unknown): URL {
  let next = 0;
  const path = template.replaceAll(/\{\w+\}/g, (name) => {
    const value = ids[next];
    next += 1;
    // With an empty id the path would be that of another operation: the list, for example.
    if (typeof value !== "string" || value === "")
      throw new TypeError(`the argument ${name} is missing`);
    // A URL with these segments is another one: `/posts/../webhooks` is `/webhooks`.
    if (value === "." || value === "..") throw new TypeError(`the argument ${name} is not an id`);
    return encodeURIComponent(value);
  });
  const url = new URL(`${baseUrl.replace(/\/+$/, "")}/api/v1${path}`);
  for (const [name, value] of Object.entries(query ?? {}))
    if (value !== undefined) url.searchParams.set(name, String(value));
  return url;
}

function toHeaders(client: ClientOptions, options: RequestOptions, key: string | undefined) {
  const headers = new Headers(options.headers);
  const { apiKey } = client;
  const authorization =
    headers.get("authorization") ?? (apiKey === null ? undefined : `Bearer ${apiKey}`);
  const optional = {
    authorization,
    "x-workspace-id": options.workspaceId ?? client.workspaceId,
    "if-match": options.ifMatch,
    "idempotency-key": key,
  };
  for (const [name, value] of Object.entries(optional))
    if (value !== undefined) headers.set(name, value);
  return headers;
}

function limited(signal: AbortSignal | undefined, timeoutMs: number): AbortSignal {
  const timeout = AbortSignal.timeout(timeoutMs);
  return signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
}

interface Attempt {
  readonly name: string;
  readonly url: URL;
  readonly init: RequestInit;
  readonly timeoutMs: number;
  readonly key: string | undefined;
}

function toInit(client: ClientOptions, method: string, call: Call, key: string | undefined) {
  const headers = toHeaders(client, call.options, key);
  // A redirect would turn a POST into a GET, and its answer would be taken for that of the POST.
  const init = { method, headers, redirect: "manual" } as const;
  if (isRead(method) || call.input === undefined) return init;
  headers.set("content-type", "application/json");
  return { ...init, body: JSON.stringify(withoutNulls(call.id, call.input)) };
}

/** Whether the input is sent in the query, not in the body. */
function isRead(method: string): boolean {
  return method === "GET" || method === "DELETE";
}

function toAttempt(client: ClientOptions, call: Call): Attempt {
  const { id, path, input, options } = call;
  const [method = "", template = ""] = OPERATIONS[id].split(" ");
  const key = keyed.has(id) ? options.idempotencyKey : undefined;
  return {
    name: `${method} ${template}`,
    url: toUrl(client.baseUrl, template, path, isRead(method) ? input : undefined),
    init: toInit(client, method, call, key),
    timeoutMs: options.timeoutMs ?? client.timeoutMs ?? LONG_TIMEOUTS_MS[id] ?? TIMEOUT_MS,
    key,
  };
}

async function attempt(client: ClientOptions, request: Attempt, options: RequestOptions) {
  const { name, url, init, timeoutMs, key } = request;
  const { signal, onResponse } = options;
  signal?.throwIfAborted();
  let response: Response;
  let text: string;
  try {
    const send = client.fetch ?? fetch;
    response = await send(url, { ...init, signal: limited(signal, timeoutMs) });
    text = await response.text();
  } catch (error) {
    signal?.throwIfAborted();
    throw new PostriderConnectionError(name, error, key);
  }
  if (!response.ok) throw toError(response, text);
  onResponse?.(response);
  return toBody(response, text);
}

function toBody(response: Response, text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // A proxy answered instead of Postrider, with a text that is not JSON.
    throw toError(response, text);
  }
}

/** @throws PostriderError, or PostriderConnectionError if no answer arrived. */
export async function send(client: ClientOptions, call: Call): Promise<unknown> {
  const request = toAttempt(client, call);
  const { id, options } = call;
  const startedAt = Date.now();
  let isUnknown = false;
  const attemptOnce = async (): Promise<unknown> => {
    try {
      return await attempt(client, request, options);
    } catch (error) {
      // Most refusals are decided before the key is looked at, so they say nothing about an earlier
      // request without an answer.
      isUnknown ||= mayBeCarriedOut(error);
      throw isUnknown && request.key !== undefined ? withKey(error, request.key) : error;
    }
  };
  return await repeat(attemptOnce, {
    maxRetries: options.maxRetries ?? client.maxRetries ?? MAX_RETRIES,
    isRepeatable:
      request.name.startsWith("GET ") || request.key !== undefined || REPEATABLE.has(id),
    signal: options.signal,
    assertInTime: (error) => {
      if (request.key !== undefined && Date.now() - startedAt > MAX_KEY_AGE_MS)
        throw new PostriderConnectionError(request.name, error);
    },
  });
}
