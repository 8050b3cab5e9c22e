import { PostriderConnectionError, PostriderError, type ErrorDetail } from "@postrider/client";
import { watchedFetch } from "./connection.ts";
import { shownWorkspace } from "./shown-workspace.ts";

interface ErrorBody {
  readonly error?: {
    readonly code?: string;
    readonly message?: string;
    readonly details?: readonly ErrorDetail[];
  };
}

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

interface Options {
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly signal?: AbortSignal | undefined;
}

/** As often as the client repeats a call. */
const MAX_REPETITIONS = 4;
/** A write whose answer asks for a longer wait is not repeated, because a person waits for it. */
const MAX_WAIT_SECONDS = 5;

/**
 * What the screens need and the REST interface does not give: calls under `/app/api`. The errors
 * are those of the client. The type of the answer is given by the module that wraps the call. A
 * write of which nothing was done, because the server was overloaded, is repeated; reads are
 * repeated by what waits for them.
 */
export async function appApi<T>(
  method: Method,
  path: `/${string}`,
  options: Options = {},
): Promise<T> {
  const { body, query, signal } = options;
  const url = new URL(`/app/api${path}`, location.origin);
  for (const [name, value] of Object.entries(query ?? {}))
    if (value !== undefined) url.searchParams.set(name, String(value));
  const headers = new Headers();
  const workspaceId = shownWorkspace.get();
  if (workspaceId !== undefined) headers.set("x-workspace-id", workspaceId);
  const init: RequestInit = { method, headers, signal: signal ?? null };
  if (body !== undefined) {
    headers.set("content-type", "application/json");
    init.body = JSON.stringify(body);
  }
  const text = await sendUntilDone(url, init);
  return (text === "" ? undefined : JSON.parse(text)) as T;
}

/** Returns the text of the answer. */
async function sendUntilDone(url: URL, init: RequestInit): Promise<string> {
  for (let repetitions = 0; ; repetitions += 1) {
    const response = await send(url, init);
    const text = await response.text();
    if (response.ok) return text;
    const error = toError(response, text);
    const waitSeconds = error.retryAfterSeconds ?? Infinity;
    const isRepeatable = init.method !== "GET" && error.isNotCarriedOut;
    if (!isRepeatable || waitSeconds > MAX_WAIT_SECONDS || repetitions === MAX_REPETITIONS)
      throw error;
    await new Promise((resolve) => {
      setTimeout(resolve, waitSeconds * 1000);
    });
  }
}

async function send(url: URL, init: RequestInit): Promise<Response> {
  try {
    return await watchedFetch(url, init);
  } catch (error) {
    init.signal?.throwIfAborted();
    throw new PostriderConnectionError(`${init.method} ${url.pathname}`, error);
  }
}

function toError({ status, headers }: Response, text: string): PostriderError {
  const error = parse(text);
  const seconds = Number(headers.get("retry-after") ?? Number.NaN);
  return new PostriderError({
    code: error?.code ?? "unexpected_answer",
    message: error?.message ?? `unexpected answer with status ${status}`,
    status,
    details: error?.details ?? [],
    requestId: headers.get("x-request-id"),
    retryAfterSeconds: Number.isNaN(seconds) ? null : seconds,
    isNotCarriedOut: headers.get("x-postrider-carried-out") === "no",
  });
}

function parse(text: string): ErrorBody["error"] {
  try {
    return (JSON.parse(text) as ErrorBody | null)?.error;
  } catch {
    return undefined;
  }
}
