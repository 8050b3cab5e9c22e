import { createStore } from "../settings/create-store.ts";
import { readSettings } from "../settings/settings.ts";
import { createConditionalFetch } from "./kept-answers.ts";

/**
 * What the last answers say about the way to the server. The banner of the frame and the dialog of
 * an ended session follow it, so that no screen has to.
 */
export interface Connection {
  /** Since when no answer has come, in ms since 1970. */
  readonly lostSince: number | undefined;
  /** The server cannot answer right now; it is asked again at this time. */
  readonly unavailable: { readonly until: number; readonly requestId: string | null } | undefined;
  /** The rate limit lets the next request through at this time. */
  readonly limitedUntil: number | undefined;
  /** The session has ended; the page stays as it is. */
  readonly sessionEnded: boolean;
  /** The browser has a session of another workspace than the one that the page shows. */
  readonly otherWorkspace: boolean;
}

const FINE: Connection = {
  lostSince: undefined,
  unavailable: undefined,
  limitedUntil: undefined,
  sessionEnded: false,
  otherWorkspace: false,
};

export const connection = createStore<Connection>(FINE);

const UNAVAILABLE = new Set([500, 502, 503, 504]);
const DEFAULT_WAIT_SECONDS = 2;

function waitOf(response: Response, now: number): number {
  const seconds = Number(response.headers.get("retry-after") ?? DEFAULT_WAIT_SECONDS);
  return now + (Number.isFinite(seconds) ? seconds : DEFAULT_WAIT_SECONDS) * 1000;
}

/**
 * The connection after an answer.
 *
 * @param code Of the error, where its status alone says too little.
 */
export function afterAnswer(
  before: Connection,
  response: Response,
  now: number,
  code?: string,
): Connection {
  const { status } = response;
  if (status === 401) return { ...FINE, sessionEnded: true };
  if (code === "workspace_forbidden") return { ...FINE, otherWorkspace: true };
  const { sessionEnded, otherWorkspace } = before;
  if (status === 429)
    return { ...FINE, sessionEnded, otherWorkspace, limitedUntil: waitOf(response, now) };
  const unavailable = UNAVAILABLE.has(status)
    ? { until: waitOf(response, now), requestId: response.headers.get("x-request-id") }
    : undefined;
  if (unavailable === undefined && isFine(before)) return before;
  const isSame = !response.ok;
  return {
    ...FINE,
    sessionEnded: sessionEnded && isSame,
    otherWorkspace: otherWorkspace && isSame,
    unavailable,
  };
}

function isFine(connected: Connection): boolean {
  return Object.values(connected).every((value) => value === undefined || value === false);
}

/** Of a refusal; the body can still be read afterwards. */
async function codeOf(response: Response): Promise<string | undefined> {
  if (response.status !== 403) return undefined;
  const body = (await response
    .clone()
    .json()
    .catch(() => undefined)) as { readonly error?: { readonly code?: string } } | undefined;
  return body?.error?.code;
}

const conditionalFetch = createConditionalFetch((input, init) => fetch(input, init));

/**
 * Like `fetch`, and notes what the answer says about the connection. It asks for the words of
 * errors in the language of the page, which need not be that of the browser.
 */
export const watchedFetch: typeof fetch = async (input, init) => {
  const headers = new Headers(init?.headers);
  if (!headers.has("accept-language")) headers.set("accept-language", readSettings().language);
  try {
    const response = await conditionalFetch(input, { ...init, headers });
    const code = await codeOf(response);
    connection.set(afterAnswer(connection.get(), response, Date.now(), code));
    return response;
  } catch (error) {
    const isAborted = error instanceof DOMException && error.name === "AbortError";
    const before = connection.get();
    if (!isAborted) connection.set({ ...before, lostSince: before.lostSince ?? Date.now() });
    throw error;
  }
};
