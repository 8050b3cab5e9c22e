import { cidOf } from "#src/bluesky/cid.ts";
import { POST_COLLECTION } from "#src/bluesky/lexicon-checks.ts";
import type { BlueskyNetwork } from "#src/bluesky/network.ts";
import { findPost, postView, recordPostView } from "#src/bluesky/post-view.ts";
import type { FoundPost } from "#src/bluesky/post-view.ts";
import { commentUri, readerDid } from "#src/bluesky/readers.ts";
import { uriOf } from "#src/bluesky/records.ts";
import type { StoredRecord } from "#src/bluesky/records.ts";
import { isVisibleAt } from "#src/world/posts.ts";
import type { Comment } from "#src/world/reactions.ts";

const THREAD_VIEW = "app.bsky.feed.defs#threadViewPost";

/** A post or comment in a Bluesky thread, and the time by which the thread is sorted. */
interface Member {
  readonly createdAt: number;
  readonly view: unknown;
}

/** A reader's comment as a reply in a Bluesky thread. */
function commentMember(comment: Comment, root: StoredRecord, replyCount: number): Member {
  const { author, text, createdAt } = comment;
  const parent = { uri: uriOf(root), cid: root.cid };
  const record = {
    $type: POST_COLLECTION,
    text,
    createdAt: new Date(createdAt).toISOString(),
    reply: { root: parent, parent },
  };
  const handle = author.includes(".") ? author : `${author}.bsky.social`;
  const post = postView({
    uri: commentUri(comment),
    cid: cidOf(record),
    author: { did: readerDid(author), handle, displayName: author },
    record,
    indexedAt: createdAt,
    metrics: { comments: replyCount },
  });
  return { createdAt, view: { $type: THREAD_VIEW, post, replies: [] } };
}

/** The account's own posts that are replies, by the URI of the post or comment that they answer. */
function ownReplies(
  network: BlueskyNetwork,
  { account }: FoundPost,
  asOf: number,
): Map<string, FoundPost[]> {
  const byParent = new Map<string, FoundPost[]>();
  for (const post of network.world.posts.newestFirst(account)) {
    const uri = uriOf({ did: account.externalId, collection: POST_COLLECTION, rkey: post.id });
    const found =
      post.replyTo !== undefined && isVisibleAt(post, asOf)
        ? findPost(network, uri, asOf)
        : undefined;
    if (post.replyTo !== undefined && found !== undefined) {
      byParent.set(post.replyTo, [...(byParent.get(post.replyTo) ?? []), found]);
    }
  }
  return byParent;
}

/** The direct replies of readers and of the account itself to a Bluesky post, newest first. */
function membersOf(network: BlueskyNetwork, found: FoundPost, asOf: number): Member[] {
  const replies = ownReplies(network, found, asOf);
  const countOf = (uri: string) => replies.get(uri)?.length ?? 0;
  const comments = network.world.reactions
    .commentsOn("bluesky", found.record.rkey)
    .filter((comment) => comment.createdAt <= asOf)
    .map((comment) => commentMember(comment, found.record, countOf(commentUri(comment))));
  const own = (replies.get(uriOf(found.record)) ?? []).map((reply): Member => {
    const post = recordPostView(network, reply, {
      replyCount: countOf(uriOf(reply.record)),
      asOf,
    });
    const { createdAt } = reply.record;
    return { createdAt, view: { $type: THREAD_VIEW, post, replies: [] } };
  });
  return [...comments, ...own].toSorted((one, other) => other.createdAt - one.createdAt);
}

/**
 * A Bluesky post with its direct replies, newest first; undefined when the post does not exist at
 * the instant `asOf`. Replies to replies are not simulated.
 */
export function threadView(
  network: BlueskyNetwork,
  uri: string,
  { depth, asOf }: { readonly depth: number; readonly asOf: number },
): unknown {
  const found = findPost(network, uri, asOf);
  if (found === undefined) {
    return undefined;
  }
  const members = membersOf(network, found, asOf);
  const post = recordPostView(network, found, { replyCount: members.length, asOf });
  const replies = depth === 0 ? {} : { replies: members.map(({ view }) => view) };
  return { $type: THREAD_VIEW, post, ...replies };
}
