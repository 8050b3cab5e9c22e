import { nextLook } from "#src/publishing/look-schedule.ts";
import { searchStart } from "#src/publishing/matching-posts.ts";
import type { UnknownCall, Verdict } from "#src/publishing/verdict.ts";
import { normalizeText } from "#src/text/normalize-text.ts";
import type { ReplyRequest } from "./connector.ts";

export interface OwnReply {
  readonly id: string;
  readonly text: string;
  /** Time in Unix milliseconds; NaN when the platform's answer does not say it. */
  readonly createdAt: number;
}

/**
 * Decides whether one of the account's replies to a comment is the reply of a call with an unknown
 * outcome. Replies of other requests are ignored. A reply counts as absent only after complete
 * searches at all scheduled times. A reply whose time cannot be read is considered, because it may
 * be the one that is searched for.
 *
 * @param replies All replies of the account to the comment since `searchStart`.
 */
export async function judgeReplies(
  replies: readonly OwnReply[],
  { text }: Pick<ReplyRequest, "text">,
  call: UnknownCall,
): Promise<Verdict> {
  const start = searchStart(call).getTime();
  const wanted = normalizeText(text);
  const similar = replies.filter(
    (reply) => normalizeText(reply.text) === wanted && !(reply.createdAt < start),
  );
  const owned = await call.isOwned(similar.map(({ id }) => id));
  const [reply, ...others] = similar.filter(({ id }) => !owned.has(id));
  if (reply === undefined) return nextLook(call) ?? { kind: "absent" };
  if (others.length > 0)
    return { kind: "cannot_tell", message: "several replies to the comment have the same text" };
  if (await call.hasSimilarPost()) {
    const message = "another reply with the same text to the same comment has an unknown outcome";
    return { kind: "cannot_tell", message };
  }
  return { kind: "present", externalId: reply.id, permalink: null };
}
