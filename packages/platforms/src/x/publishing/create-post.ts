import { type JsonObject, object, type PlatformAnswer, text } from "#src/http/platform-answer.ts";
import { bearer, jsonBody } from "#src/http/platform-request.ts";
import { type SendGuard, sendOnce } from "#src/http/send-once.ts";
import { type Outcome, toUnanswered } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { limitedForMs, toDailyLimit, toFailure } from "./failures.ts";

export function toPermalink({ username }: Pick<AccountAccess, "username">, id: string): string {
  return `https://x.com/${username}/status/${id}`;
}

function toOutcome(answer: PlatformAnswer, account: AccountAccess): Outcome {
  const id = text(object(answer.json, "data"), "id");
  if (answer.status >= 200 && answer.status < 300 && id !== undefined)
    return { kind: "published", externalId: id, permalink: toPermalink(account, id) };
  const failure =
    toDailyLimit(answer) ?? (answer.json === undefined ? undefined : toFailure(answer));
  if (failure !== undefined) return failure;
  const message = `HTTP ${answer.status}`;
  // X's documentation does not say whether a call answered with 429 can create a post, so the
  // timeline is searched before a repeated call, unless X states that a limit of 24 hours or the
  // usage cap is used up.
  return answer.status === 429
    ? { kind: "unknown", message, limitedForMs: limitedForMs(answer) }
    : { kind: "unknown", message };
}

export async function createPost(
  baseUrl: string,
  account: AccountAccess,
  content: JsonObject,
  guard: SendGuard,
): Promise<Outcome> {
  const url = `${baseUrl}/2/tweets`;
  const headers = bearer(account.accessToken);
  const sent = await sendOnce({ method: "POST", url, headers, body: jsonBody(content) }, guard);
  return sent.kind === "answer" ? toOutcome(sent, account) : toUnanswered(sent);
}
