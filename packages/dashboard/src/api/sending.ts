import { PostriderConnectionError, PostriderError } from "@postrider/client";

/** An `Idempotency-Key`. Pages without TLS have no `crypto.randomUUID`. */
export function createKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A request, and the key under which it is sent again. */
export interface Keyed {
  readonly request: string;
  readonly key: string;
}

/** The same request keeps its key; what is asked in place of it gets another one. */
export function keyed(last: Keyed | undefined, request: string): Keyed {
  return last?.request === request ? last : { request, key: createKey() };
}

/**
 * The server keeps a key for 24 h. A request that is sent again later would be carried out again,
 * so it is not sent again without being asked.
 */
const KEY_HOLDS_MS = 23 * 3_600_000;

/** Whether the key of a request that was sent then no longer prevents a second result. */
export function isKeySpent(sentAt: number | undefined, now = Date.now()): boolean {
  return sentAt === undefined || now - sentAt > KEY_HOLDS_MS;
}

/**
 * Whether the server refuses a request before it looks at its key, until a person changes
 * something: sending it again by itself does not tell what became of it. A session that has ended
 * is begun anew on the same page.
 */
export function isBlocked(error: unknown): boolean {
  if (!(error instanceof PostriderError)) return false;
  const { status, code } = error;
  return status < 500 && status !== 401 && code !== "idempotency_conflict";
}

/** A request with a key that was carried out is answered with its result before these. */
const DECIDED_BEHIND_KEY: ReadonlySet<number> = new Set([409, 412, 422]);

/**
 * Whether no answer says what became of the request: it is sent again under the same key.
 *
 * @param wasAsked Whether it was sent before without an answer. Most refusals are decided before
 *   the key is looked at, so they say nothing about that request.
 */
export function isUnanswered(error: unknown, wasAsked = false): boolean {
  if (error instanceof PostriderConnectionError) return true;
  if (!(error instanceof PostriderError)) return wasAsked;
  if (error.status >= 500 || error.code === "idempotency_conflict") return true;
  const isUnknown = wasAsked || error.idempotencyKey !== undefined;
  return isUnknown && !DECIDED_BEHIND_KEY.has(error.status);
}
