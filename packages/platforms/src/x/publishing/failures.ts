import { header, list, shorten, text, type PlatformAnswer } from "#src/http/platform-answer.ts";
import type { Failure } from "#src/publishing/connector.ts";

/** The texts are no contract; "media" in one is all that tells what a validation error is about. */
const ABOUT_MEDIA = /\bmedia\b/i;

/** Until the window ends, by the header that X sends with every answer. */
export function limitedForMs(answer: PlatformAnswer): number {
  const reset = Number(header(answer, "x-rate-limit-reset"));
  return reset > 0 ? Math.max(1000, reset * 1000 - Date.now()) : 15 * 60_000;
}

function describe(answer: PlatformAnswer): string {
  const [first] = list(answer.json, "errors");
  return shorten(
    text(first, "message") ?? text(answer.json, "detail") ?? text(answer.json, "title"),
  );
}

function toForbidden(answer: PlatformAnswer, message: string): Failure {
  const type = text(answer.json, "type") ?? "";
  if (/duplicate content/i.test(message))
    return { kind: "refused", code: "duplicate_on_platform", message };
  if (/not-authorized|client-forbidden|unsupported-authentication/.test(type))
    return { kind: "refused", code: "permission_missing", message };
  return { kind: "refused", code: "account_action_needed", message };
}

/** Nothing is visible because of an upload, so its limit is a plain wait and what else is not definite is tried again. */
export function toUploadFailure(answer: PlatformAnswer): Failure {
  const message = describe(answer) || `HTTP ${answer.status}`;
  switch (answer.status) {
    case 400:
    case 413:
    case 415:
    case 422:
      return { kind: "refused", code: "media_rejected", message };
    case 429: {
      const retryAfterMs = limitedForMs(answer);
      return { kind: "retryable", code: "rate_limited", message, retryAfterMs, isLimit: true };
    }
    default:
      return toFailure(answer) ?? { kind: "retryable", code: "platform_unavailable", message };
  }
}

/** What a parsed problem of X means (platforms reference 2.7); undefined when it says nothing definite. */
export function toFailure(answer: PlatformAnswer): Failure | undefined {
  const message = describe(answer);
  switch (answer.status) {
    case 400:
      return {
        kind: "refused",
        code: ABOUT_MEDIA.test(message) ? "media_rejected" : "content_rejected",
        message,
      };
    case 401:
      return { kind: "token_refused", message };
    case 402:
      return { kind: "refused", code: "app_configuration", message };
    case 403:
      return toForbidden(answer, message);
    default:
      return undefined;
  }
}
