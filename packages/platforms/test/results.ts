import type { TargetErrorCode } from "#src/publishing/outcome.ts";

/** What tests expect of the results of connectors. */
export const PUBLISHED = { kind: "published" };
export const UNKNOWN = { kind: "unknown" };
export const TOKEN_REFUSED = { kind: "token_refused" };
export const PRESENT = { kind: "present" };
export const CANNOT_TELL = { kind: "cannot_tell" };
export const LOOK_AGAIN = { kind: "look_again" };
export const INCOMPLETE_LOOK = { kind: "look_again", isIncomplete: true };

export function refused(code: TargetErrorCode) {
  return { kind: "refused", code };
}

export function retryable(code: TargetErrorCode) {
  return { kind: "retryable", code };
}
