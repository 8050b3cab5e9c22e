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

/**
 * What the screens need and the REST interface does not give: calls under `/app/api`. The errors
 * are those of the client. The type of the answer is given by the module that wraps the call.
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
  const response = await send(url, init);
  const text = await response.text();
  if (!response.ok) throw toError(response, text);
  return (text === "" ? undefined : JSON.parse(text)) as T;
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
  });
}

function parse(text: string): ErrorBody["error"] {
  try {
    return (JSON.parse(text) as ErrorBody | null)?.error;
  } catch {
    return undefined;
  }
}
