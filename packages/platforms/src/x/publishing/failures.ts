import { header, list, type PlatformAnswer, shorten, text } from "#src/http/platform-answer.ts";
import { limitReached, platformUnavailable, type Failure } from "#src/publishing/outcome.ts";

/** Length of X's rate-limit window in milliseconds. */
const WINDOW_MS = 15 * 60_000;

/**
 * Matches X's validation errors about media. They are recognized by the word "media" in the error text, because no
 * other field of the error shows the cause. X does not guarantee its error texts.
 */
const ABOUT_MEDIA = /\bmedia\b/i;

/** Returns the milliseconds until X's rate-limit window ends, from the header that X sends with every answer. */
export function limitedForMs(answer: PlatformAnswer): number {
  const reset = Number(header(answer, "x-rate-limit-reset"));
  return reset > 0 ? Math.max(1000, reset * 1000 - Date.now()) : WINDOW_MS;
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

/**
 * Returns the failure of an upload to X. An upload makes nothing visible, so it is repeated after a rate limit and
 * after an unclear answer.
 */
export function toUploadFailure(answer: PlatformAnswer): Failure {
  const message = describe(answer) || `HTTP ${answer.status}`;
  switch (answer.status) {
    case 400:
    case 413:
    case 415:
    case 422:
      return { kind: "refused", code: "media_rejected", message };
    case 429:
      return limitReached("rate_limited", message, limitedForMs(answer));
    default:
      return toFailure(answer) ?? platformUnavailable(message);
  }
}

/** Returns the failure of a call to X that makes nothing visible and can be repeated safely. */
export function toRepeatableFailure(answer: PlatformAnswer): Failure {
  const message = describe(answer) || `HTTP ${answer.status}`;
  if (answer.status === 429) return limitReached("rate_limited", message, limitedForMs(answer));
  const failure = answer.json === undefined ? undefined : toFailure(answer);
  return failure ?? platformUnavailable(message);
}

/**
 * Maps an error of X to a failure (platforms reference 2.7); undefined when the error does not show whether the call
 * took effect.
 */
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
