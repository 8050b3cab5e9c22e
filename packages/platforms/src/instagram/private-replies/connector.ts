import {
  createGraphPrivateReplies,
  repeatAfter,
  type GraphPrivateReplies,
} from "#src/graph-api/private-replies.ts";
import { count, text, time } from "#src/http/platform-answer.ts";
import {
  apiOfAccount,
  type InstagramSettings,
  usesInstagramLogin,
} from "#src/instagram/api-of-account.ts";
import { MEANINGS } from "#src/instagram/publishing/error-meanings.ts";
import type { OwnedMedia, PrivateRepliesConnector } from "#src/private-replies/connector.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";

const FIELDS = "id,timestamp,comments_count";

function toMedia(entry: unknown): OwnedMedia | undefined {
  const id = text(entry, "id");
  const publishedAt = time(entry, "timestamp");
  return id === undefined || publishedAt === undefined
    ? undefined
    : { id, publishedAt, commentCount: count(entry, "comments_count") };
}

/**
 * With Facebook Login the Page sends the messages, and Meta refuses the id of the Instagram
 * account; with Instagram Login the account itself sends them.
 */
function senderOf(account: AccountAccess): string {
  const { externalId, attributes } = account;
  return usesInstagramLogin(account) ? externalId : (attributes.pageId ?? "me");
}

export function createInstagramPrivateRepliesConnector(
  settings: InstagramSettings,
): PrivateRepliesConnector {
  const replies: GraphPrivateReplies = {
    platform: "instagram",
    apiOf: (account) => apiOfAccount(settings, account),
    own: MEANINGS,
    unitsPerPage: 1,
    edge: "media",
    listFields: FIELDS,
    nodeFields: FIELDS,
    isOwn: () => true,
    toMedia,
    senderOf,
    stateFields: ["timestamp"],
    // Instagram does not say whether a comment has a private reply.
    hasPrivateReply: () => undefined,
  };
  return {
    ...createGraphPrivateReplies(replies),
    reconcile: (_account, _request, call) => Promise.resolve(repeatAfter(call)),
  };
}
