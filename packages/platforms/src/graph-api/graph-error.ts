import { object, type PlatformAnswer, shorten, text } from "#src/http/platform-answer.ts";

export interface GraphError {
  readonly code: number;
  readonly subcode: number;
  readonly message: string;
  readonly isTransient: boolean;
}

export function readGraphError(answer: PlatformAnswer): GraphError | undefined {
  const error = object(answer.json, "error");
  const code = error?.code;
  if (error === undefined || typeof code !== "number") return undefined;
  const subcode = typeof error.error_subcode === "number" ? error.error_subcode : 0;
  const message = text(error, "error_user_msg") ?? text(error, "message");
  return { code, subcode, message: shorten(message), isTransient: error.is_transient === true };
}
