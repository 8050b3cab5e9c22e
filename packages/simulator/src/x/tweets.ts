import { createHash } from "node:crypto";
import { isVisibleAt, type Post } from "#src/world/posts.ts";
import type { Comment } from "#src/world/reactions.ts";
import type { XNetwork } from "#src/x/network.ts";
import { type PostSelection, tweetView } from "#src/x/tweet-view.ts";

function readerId(author: string): string {
  return BigInt(`0x${createHash("sha256").update(author).digest("hex").slice(0, 15)}`).toString();
}

function commentPost(comment: Comment): Post {
  return {
    platform: "x",
    account: readerId(comment.author),
    id: comment.id,
    text: comment.text,
    media: [],
    createdAt: comment.createdAt,
    deletedAt: null,
    createCalls: 1,
    replyTo: comment.mediaId,
  };
}

interface Tweet {
  readonly post: Post;
  readonly username: string;
}

function usernameOf({ world }: XNetwork, { account }: Post): string {
  return world.accounts.byId("x", account)?.username ?? "";
}

export function findTweet(network: XNetwork, id: string, asOf: number): Tweet | undefined {
  const comment = network.world.reactions.comment("x", id);
  if (comment !== undefined) {
    const isWritten = comment.createdAt <= asOf;
    return isWritten ? { post: commentPost(comment), username: comment.author } : undefined;
  }
  const post = network.tweets.find(id);
  return post !== undefined && isVisibleAt(post, asOf)
    ? { post, username: usernameOf(network, post) }
    : undefined;
}

export function repliesTo(network: XNetwork, id: string, asOf: number): Tweet[] {
  const { world } = network;
  const comments = world.reactions
    .commentsOn("x", id)
    .filter(({ createdAt }) => createdAt <= asOf)
    .map((comment) => ({ post: commentPost(comment), username: comment.author }));
  const ownerId = world.reactions.comment("x", id)?.account ?? network.tweets.find(id)?.account;
  const owner = world.accounts.byId("x", ownerId ?? "");
  const own = owner === undefined ? [] : [...world.posts.newestFirst(owner)];
  return [
    ...comments,
    ...own
      .filter((post) => post.replyTo === id && isVisibleAt(post, asOf))
      .map((post) => ({ post, username: usernameOf(network, post) })),
  ];
}

export function conversationOf(network: XNetwork, id: string, asOf: number): Tweet[] {
  return repliesTo(network, id, asOf).flatMap((reply) => [
    reply,
    ...conversationOf(network, reply.post.id, asOf),
  ]);
}

function conversationId(network: XNetwork, post: Post): string {
  let first = post;
  while (first.replyTo !== undefined) {
    const parent = findTweet(network, first.replyTo, Number.POSITIVE_INFINITY)?.post;
    if (parent === undefined) return first.replyTo;

    first = parent;
  }
  return first.id;
}

interface ViewOptions {
  readonly selection: PostSelection;
  readonly expansions: string | null;
  readonly asOf: number;
}

export function tweetViews(
  network: XNetwork,
  tweets: readonly Tweet[],
  { selection, expansions, asOf }: ViewOptions,
): { readonly data: unknown[]; readonly includes: unknown } {
  const data = tweets.map(({ post }) => {
    const metrics = network.world.reactions.metricsAt("x", post.id, asOf);
    return tweetView(post, { conversationId: conversationId(network, post), metrics }, selection);
  });
  const users = new Map(
    tweets.map(({ post, username }) => [
      post.account,
      { id: post.account, name: username, username },
    ]),
  );
  const wantsUsers = (expansions ?? "").split(",").includes("author_id") && users.size > 0;
  return { data, includes: wantsUsers ? { users: [...users.values()] } : undefined };
}
