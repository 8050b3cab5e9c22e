import type { FacebookNetwork } from "#src/facebook/network.ts";
import { timeView } from "#src/facebook/views.ts";
import type { GraphCall } from "#src/graph/endpoint.ts";
import type { ShownComment } from "#src/platform.ts";
import type { Account } from "#src/world/accounts.ts";
import type { Comment } from "#src/world/reactions.ts";

/** Readers have no accounts in the simulator, so their ids come from their names. */
export function authorId(author: string): string {
  const digits = Buffer.from(author).reduce(
    (sum, byte) => (sum * 31n + BigInt(byte)) % 10n ** 15n,
    7n,
  );
  return `3${digits.toString().padStart(15, "0")}`;
}

export function newCommentId({ world }: FacebookNetwork, now: number, postId: string): string {
  return `${postId.split("_").at(-1) ?? ""}_${world.snowflakes.next(now)}`;
}

export function commentView(
  { world, hidden, privateReplies }: FacebookNetwork,
  comment: Comment,
  { account, asOf }: Pick<GraphCall, "account" | "asOf">,
): Readonly<Record<string, unknown>> {
  const { id, author, mediaId } = comment;
  const isOwn = author === account.username;
  const parent = world.reactions.comment("facebook", mediaId);
  const conversation = privateReplies.hasAt(id, asOf) ? { id: `t_${id}` } : undefined;
  return {
    id,
    from: isOwn
      ? { id: account.externalId, name: account.displayName }
      : { id: authorId(author), name: author },
    message: comment.text,
    created_time: timeView(comment.createdAt),
    is_hidden: hidden.get(id) ?? false,
    can_hide: !isOwn,
    can_reply_privately: !isOwn && privateReplies.acceptsAt(comment, asOf),
    private_reply_conversation: conversation,
    object: { id: parent?.mediaId ?? mediaId },
    parent: parent === undefined ? undefined : { id: parent.id },
    like_count: 0,
    comment_count: world.reactions.countComments("facebook", id, asOf),
  };
}

export function shownComments(
  { world, hidden }: FacebookNetwork,
  account: Account,
): readonly ShownComment[] {
  const { posts, reactions } = world;
  const onPosts = [...posts.newestFirst(account)].flatMap(({ id }) =>
    reactions.commentsOn("facebook", id),
  );
  return onPosts
    .flatMap((comment) => [comment, ...reactions.commentsOn("facebook", comment.id)])
    .map(({ id, mediaId, author, text, createdAt }) => {
      const isHidden = hidden.get(id) ?? false;
      return { id, mediaId, author, text, hidden: isHidden, createdAt };
    });
}
