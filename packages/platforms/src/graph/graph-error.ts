import { object, shorten, text, type PlatformAnswer } from "#src/http/platform-answer.ts";

/** The envelope of an error (platforms reference 1.7). */
export interface GraphError {
  readonly code: number;
  /** 0 where there is none. */
  readonly subcode: number;
  /** What the platform says to people, else to developers. */
  readonly message: string;
  readonly isTransient: boolean;
}

/** The error of an answer; undefined where it has none, for example because something in between answered. */
export function readGraphError(answer: PlatformAnswer): GraphError | undefined {
  const error = object(answer.json, "error");
  const code = error?.code;
  if (error === undefined || typeof code !== "number") return undefined;
  const subcode = typeof error.error_subcode === "number" ? error.error_subcode : 0;
  const words = text(error, "error_user_msg") ?? text(error, "message");
  return { code, subcode, message: shorten(words), isTransient: error.is_transient === true };
}
