import {
  PostriderConnectionError,
  PostriderError,
  toError,
} from "@postrider/client/internal/errors";
import { repeat } from "@postrider/client/internal/repeat";
import { watchedFetch } from "./connection.ts";
import { shownWorkspace } from "./shown-workspace.ts";

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

interface Options {
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly signal?: AbortSignal | undefined;
}

/** As often as the client repeats a call. */
const MAX_RETRIES = 4;
/** A write whose answer asks for a longer wait is not repeated, because a person waits for it. */
const MAX_WAIT_SECONDS = 5;

/**
 * What the screens need and the REST interface does not give: calls under `/app/api`. The errors
 * are those of the client. The type of the answer is given by the module that wraps the call. A
 * write of which nothing was done, because the server was overloaded or a rate limit refused it, is
 * repeated; reads are repeated by what waits for them.
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
  const attempt = () => send(url, init);
  const retries = { maxRetries: MAX_RETRIES, isRepeatable: false, assertInTime: assertShortWait };
  const text = await (method === "GET" ? attempt() : repeat(attempt, { ...retries, signal }));
  return (text === "" ? undefined : JSON.parse(text)) as T;
}

/** Returns the text of the answer. */
async function send(url: URL, init: RequestInit): Promise<string> {
  let response: Response;
  let text: string;
  try {
    response = await watchedFetch(url, init);
    text = await response.text();
  } catch (error) {
    init.signal?.throwIfAborted();
    throw new PostriderConnectionError(`${init.method} ${url.pathname}`, error);
  }
  if (!response.ok) throw toError(response, text);
  return text;
}

function assertShortWait(error: unknown): void {
  if (error instanceof PostriderError && (error.retryAfterSeconds ?? 0) > MAX_WAIT_SECONDS)
    throw error;
}
