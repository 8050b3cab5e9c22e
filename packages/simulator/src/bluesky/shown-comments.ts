import { POST_COLLECTION } from "#src/bluesky/lexicon-checks.ts";
import type { BlueskyNetwork } from "#src/bluesky/network.ts";
import { commentUri } from "#src/bluesky/readers.ts";
import { AT_URI, uriOf } from "#src/bluesky/records.ts";
import { THREADGATE_COLLECTION } from "#src/bluesky/threadgate-record.ts";
import type { ShownComment } from "#src/platform.ts";
import type { Account } from "#src/world/accounts.ts";
import { isVisibleAt } from "#src/world/posts.ts";

function hiddenReplies(network: BlueskyNetwork, account: Account, now: number): Set<unknown> {
  const gates = network.records.list(account.externalId, THREADGATE_COLLECTION, now);
  return new Set(gates.flatMap(({ value }) => value["hiddenReplies"] ?? []));
}

/** The id of every post or comment is a record key here. */
export function shownComments(network: BlueskyNetwork, account: Account): readonly ShownComment[] {
  const { clock, posts, reactions } = network.world;
  const now = clock.now();
  const hidden = hiddenReplies(network, account, now);
  const own = [...posts.newestFirst(account)].filter((post) => isVisibleAt(post, now));
  const comments = own.flatMap(({ id }) =>
    reactions.commentsOn("bluesky", id).map((comment): ShownComment => {
      const { mediaId, author, text, createdAt } = comment;
      const isHidden = hidden.has(commentUri(comment));
      return { id: comment.id, mediaId, author, text, hidden: isHidden, createdAt };
    }),
  );
  const replies = own.flatMap(({ id, text, createdAt, replyTo }): ShownComment[] => {
    const mediaId = AT_URI.exec(replyTo ?? "")?.[3];
    const uri = uriOf({ did: account.externalId, collection: POST_COLLECTION, rkey: id });
    return mediaId === undefined
      ? []
      : [{ id, mediaId, author: account.username, text, hidden: hidden.has(uri), createdAt }];
  });
  return [...comments, ...replies];
}
