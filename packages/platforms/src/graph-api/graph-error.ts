import { object, type PlatformAnswer, shorten, text } from "#src/http/platform-answer.ts";

/** An error of the Graph API (platforms reference 1.7). */
export interface GraphError {
  readonly code: number;
  /** The subcode of the Graph API error; 0 when it has none. */
  readonly subcode: number;
  /** The Graph API error's message for users, or its message for developers when it has none for users. */
  readonly message: string;
  readonly isTransient: boolean;
}

/**
 * Returns the Graph API error in an answer; undefined when the answer contains no such error, for example because a
 * proxy answered.
 */
export function readGraphError(answer: PlatformAnswer): GraphError | undefined {
  const error = object(answer.json, "error");
  const code = error?.code;
  if (error === undefined || typeof code !== "number") return undefined;
  const subcode = typeof error.error_subcode === "number" ? error.error_subcode : 0;
  const message = text(error, "error_user_msg") ?? text(error, "message");
  return { code, subcode, message: shorten(message), isTransient: error.is_transient === true };
}
