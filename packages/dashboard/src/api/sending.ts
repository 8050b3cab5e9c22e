import { PostriderConnectionError, PostriderError } from "@postrider/client";

/** An `Idempotency-Key`. Pages without TLS have no `crypto.randomUUID`. */
export function createKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Whether no answer says what became of the request: it is sent again under the same key. */
export function isUnanswered(error: unknown): boolean {
  if (error instanceof PostriderConnectionError) return true;
  return error instanceof PostriderError && error.status >= 500;
}
