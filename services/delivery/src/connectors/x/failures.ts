import {
  header,
  list,
  shorten,
  text,
  type PlatformAnswer,
} from "#src/connectors/platform-answer.ts";
import type { Failure } from "#src/domain/connector.ts";

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

/** What a parsed problem of X means (platforms reference 2.7); undefined when it says nothing definite. */
export function toFailure(answer: PlatformAnswer): Failure | undefined {
  const message = describe(answer);
  switch (answer.status) {
    case 400:
      return { kind: "refused", code: "content_rejected", message };
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
