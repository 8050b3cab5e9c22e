import {
  describeStatus,
  type JsonObject,
  type PlatformAnswer,
  shorten,
  text,
} from "#src/http/platform-answer.ts";
import { type SendGuard, sendOnce } from "#src/http/send-once.ts";
import type { Outcome } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { toUnanswered } from "#src/publishing/unanswered-call.ts";
import { toFailure } from "./failures.ts";
import { COLLECTION, toPermalink, toRequest } from "./xrpc.ts";

function toOutcome(answer: PlatformAnswer, account: AccountAccess, rkey: string): Outcome {
  if (answer.status === 200 && text(answer.json, "uri") !== undefined)
    return { kind: "published", externalId: rkey, permalink: toPermalink(account, rkey) };

  const name = text(answer.json, "error");
  if (name === undefined || answer.status < 400 || answer.status >= 500 || name === "InvalidSwap")
    return { kind: "unknown", message: shorten(name ?? describeStatus(answer)) };

  return toFailure(answer, name);
}

/** Writing the same record under the same key again changes nothing and gets the same answer. */
export async function putPost(
  baseUrl: string,
  account: AccountAccess,
  { rkey, record }: { readonly rkey: string; readonly record: JsonObject },
  guard: SendGuard,
): Promise<Outcome> {
  const body = { repo: account.externalId, collection: COLLECTION, rkey, record, swapRecord: null };
  const request = toRequest(baseUrl, account, "com.atproto.repo.putRecord", body);
  const sent = await sendOnce(request, guard);
  return sent.kind === "answer" ? toOutcome(sent, account, rkey) : toUnanswered(sent);
}
