import {
  header,
  list,
  object,
  sendOnce,
  shorten,
  text,
  type PlatformAnswer,
} from "#src/connectors/http.ts";
import { reconcileByTimeline } from "#src/connectors/x/reconcile.ts";
import type { Connector, Failure, Outcome, Publication, SendGuard } from "#src/domain/connector.ts";

/** Until the window ends, by the header that X sends with every answer. */
function limitedForMs(answer: PlatformAnswer): number {
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

/** What a parsed problem of `POST /2/tweets` means (platforms reference 2.7). */
function toFailure(answer: PlatformAnswer): Failure | undefined {
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

function toOutcome(answer: PlatformAnswer, publication: Publication): Outcome {
  const id = text(object(answer.json, "data"), "id");
  if (answer.status >= 200 && answer.status < 300 && id !== undefined) {
    return {
      kind: "published",
      externalId: id,
      permalink: `https://x.com/${publication.username}/status/${id}`,
    };
  }
  const failure = answer.json === undefined ? undefined : toFailure(answer);
  if (failure !== undefined) return failure;
  const message = `HTTP ${answer.status}`;
  // X names its limit in headers. Whether a post can exist after a 429 is not documented, so it is looked for first.
  if (answer.status === 429)
    return { kind: "unknown", message, limitedForMs: limitedForMs(answer) };
  return { kind: "unknown", message };
}

async function publish(
  baseUrl: string,
  publication: Publication,
  guard: SendGuard,
): Promise<Outcome> {
  const headers = { authorization: `Bearer ${publication.accessToken}` };
  const sent = await sendOnce(
    { method: "POST", url: `${baseUrl}/2/tweets`, headers, body: { text: publication.text } },
    guard,
  );
  if (sent.kind === "answer") return toOutcome(sent, publication);
  if (sent.kind === "not_sent") return { kind: "not_sent" };
  if (sent.kind === "not_connected")
    return { kind: "retryable", code: "platform_unavailable", message: sent.message };
  return { kind: "unknown", message: sent.message };
}

/** X API v2: no key and no client id; an unknown outcome is settled by reading the account's own timeline. */
export function createXConnector(options: {
  readonly baseUrl: string;
  readonly mayResend: boolean;
}): Connector {
  return {
    platform: "x",
    maxResends: options.mayResend ? 1 : 0,
    prepare: [],
    publish: (publication, _handles, guard) => publish(options.baseUrl, publication, guard),
    reconcile: (publication, _handles, call, signal) =>
      reconcileByTimeline(options.baseUrl, publication, call, signal),
  };
}
