import { type JsonObject, object, type PlatformAnswer, text } from "#src/http/platform-answer.ts";
import { jsonBody } from "#src/http/platform-request.ts";
import { type SendGuard, sendOnce } from "#src/http/send-once.ts";
import { type Site, toRequest } from "#src/publishing/caller.ts";
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
  site: Site,
  content: JsonObject,
  guard: SendGuard,
): Promise<Outcome> {
  const call = { method: "POST", path: "2/tweets", body: jsonBody(content) } as const;
  const sent = await sendOnce(toRequest(site, call), guard);
  return sent.kind === "answer" ? toOutcome(sent, site.account) : toUnanswered(sent);
}
