import { createHash } from "node:crypto";
import type { Field } from "#src/graph/fields.ts";
import { nestedPage } from "#src/graph/paging.ts";
import type { InstagramNetwork } from "#src/instagram/network.ts";
import { timeView, type View } from "#src/instagram/views.ts";
import type { ShownComment } from "#src/platform.ts";
import type { Account } from "#src/world/accounts.ts";
import type { Comment } from "#src/world/reactions.ts";

export function authorId(author: string): string {
  return BigInt(`0x${createHash("sha256").update(author).digest("hex").slice(0, 13)}`).toString();
}

/**
 * `user` exists only on the account's own comments; `from` has the author's id as the app sees it.
 */
export function commentView(
  network: InstagramNetwork,
  { id, text, author, createdAt, mediaId }: Comment,
  account: Account,
  asOf: number,
): View {
  const { reactions } = network.world;
  const parent = reactions.comment("instagram", mediaId);
  const replies = reactions
    .commentsOn("instagram", id)
    .filter((reply) => reply.createdAt <= asOf)
    .map((reply) => commentView(network, reply, account, asOf));
  return {
    id,
    text,
    timestamp: timeView(createdAt),
    username: author,
    from: { id: authorId(author), username: author },
    user: author === account.username ? { id: account.externalId } : undefined,
    media: { id: parent?.mediaId ?? mediaId },
    hidden: network.hidden.get(id) ?? false,
    like_count: 0,
    parent_id: parent?.id,
    replies: (field: Field) => nestedPage(replies, field, ["timestamp", "text"]),
  };
}

export function shownComments(
  { world, hidden }: InstagramNetwork,
  account: Account,
): readonly ShownComment[] {
  const { posts, reactions } = world;
  const onPosts = [...posts.newestFirst(account)].flatMap(({ id }) =>
    reactions.commentsOn("instagram", id),
  );
  return onPosts
    .flatMap((comment) => [comment, ...reactions.commentsOn("instagram", comment.id)])
    .map(({ id, mediaId, author, text, createdAt }) => {
      const isHidden = hidden.get(id) ?? false;
      return { id, mediaId, author, text, hidden: isHidden, createdAt };
    });
}
