import { object, text, type PlatformAnswer } from "#src/connectors/platform-answer.ts";
import { jsonBody } from "#src/connectors/request-body.ts";
import { sendOnce, toUnanswered } from "#src/connectors/send-once.ts";
import { deleteTweet } from "#src/connectors/x/delete.ts";
import { limitedForMs, toFailure } from "#src/connectors/x/failures.ts";
import { reconcileByTimeline } from "#src/connectors/x/reconcile.ts";
import type { Connector, Outcome, Publication, SendGuard } from "#src/domain/connector.ts";

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
    {
      method: "POST",
      url: `${baseUrl}/2/tweets`,
      headers,
      body: jsonBody({ text: publication.text }),
    },
    guard,
  );
  return sent.kind === "answer" ? toOutcome(sent, publication) : toUnanswered(sent);
}

/** X API v2: no key and no client id; an unknown outcome is settled by reading the account's own timeline. */
export function createXConnector(options: {
  readonly baseUrl: string;
  readonly mayResend: boolean;
}): Connector {
  return {
    platform: "x",
    maxResends: options.mayResend ? 1 : 0,
    steps: () => [],
    publish: (publication, _handles, guard) => publish(options.baseUrl, publication, guard),
    reconcile: (publication, _handles, call, signal) =>
      reconcileByTimeline(options.baseUrl, publication, call, signal),
    canDelete: true,
    delete: (account, externalId, signal) =>
      deleteTweet(options.baseUrl, account, externalId, signal),
  };
}
