import { PostriderConnectionError, PostriderError } from "@postrider/client";

/** An `Idempotency-Key`. Pages without TLS have no `crypto.randomUUID`. */
export function createKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
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

/** Whether no answer says what became of the request: it is sent again under the same key. */
export function isUnanswered(error: unknown): boolean {
  if (error instanceof PostriderConnectionError) return true;
  if (!(error instanceof PostriderError)) return false;
  return error.status >= 500 || error.idempotencyKey !== undefined;
}
