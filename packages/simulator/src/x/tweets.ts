import { createHash } from "node:crypto";
import type { Account } from "#src/world/accounts.ts";
import { existsAt, type Post } from "#src/world/posts.ts";
import type { Comment, MetricValues } from "#src/world/reactions.ts";
import type { XNetwork } from "#src/x/network.ts";
import { type RenderedText, renderText, weightedLength } from "#src/x/text.ts";

type VerifiedType = "blue" | "business" | "government" | "none";

const MAX_WEIGHTED_LENGTH = 280;
/**
 * Maximum number of characters in a post of an X Premium subscriber. Source: X help page "About X
 * Premium".
 */
const MAX_LONG_LENGTH = 25_000;

const PREFIXES: readonly (readonly [string, VerifiedType])[] = [
  ["premium", "blue"],
  ["company", "business"],
  ["ministry", "government"],
];

export function verifiedTypeOf({ username }: Account): VerifiedType {
  return PREFIXES.find(([prefix]) => username.startsWith(prefix))?.[1] ?? "none";
}

export function maxLengthOf(account: Account): number {
  return verifiedTypeOf(account) === "none" ? MAX_WEIGHTED_LENGTH : MAX_LONG_LENGTH;
}

function isLongPost(weightedLength: number): boolean {
  return weightedLength > MAX_WEIGHTED_LENGTH;
}

/** The simulator accepts fields for which it has no data, but does not return them. */
export const TWEET_FIELDS: readonly string[] = `
  article attachments author_id card_uri community_id context_annotations conversation_id
  created_at display_text_range edit_controls edit_history_post_ids edit_history_tweet_ids
  entities geo id in_reply_to_user_id lang media_metadata non_public_metrics note_tweet
  organic_metrics possibly_sensitive promoted_metrics public_metrics referenced_tweets
  reply_settings scopes source suggested_source_links text withheld
`
  .trim()
  .split(/\s+/);

export const POST_FIELDS: readonly string[] = `
  article article_title attachments card_uri community_id context_annotations conversation_id
  created_at display_text_range edit_controls entities geo id lang matched_media_notes
  media_metadata non_public_metrics note_post note_request_suggestions organic_metrics
  paid_partnership possibly_sensitive promoted_metrics public_metrics reply_settings scopes source
  suggested_source_links suggested_source_links_with_counts text withheld
`
  .trim()
  .split(/\s+/);

/** With a precision of one second. */
function toSeconds(instant: number): string {
  return new Date(Math.floor(instant / 1000) * 1000).toISOString();
}

export interface PostSelection {
  readonly fields: ReadonlySet<string>;
  readonly dialect: "tweet" | "post";
}

function publicMetrics(
  metrics: MetricValues,
  dialect: PostSelection["dialect"],
): Record<string, number> {
  return {
    [dialect === "tweet" ? "retweet_count" : "repost_count"]: metrics.shares ?? 0,
    reply_count: metrics.comments ?? 0,
    like_count: metrics.likes ?? 0,
    quote_count: 0,
    bookmark_count: metrics.saves ?? 0,
    impression_count: metrics.impressions ?? metrics.views ?? 0,
  };
}

const SHOWN_CHARACTERS = 270;

function shorten({ text, urls }: RenderedText): RenderedText {
  const shown = Array.from(text).slice(0, SHOWN_CHARACTERS).join("");
  return { text: `${shown}…`, urls: urls.filter(({ end }) => end <= SHOWN_CHARACTERS) };
}

function noteOf(post: Post): unknown {
  const { text, urls } = renderText({ ...post, media: [] });
  return { text, ...(urls.length === 0 ? {} : { entities: { urls } }) };
}

function tweetView(
  post: Post,
  { conversationId, metrics }: { readonly conversationId: string; readonly metrics: MetricValues },
  { fields, dialect }: PostSelection,
): Record<string, unknown> {
  const whole = renderText(post);
  const isLong = isLongPost(weightedLength(post.text));
  const { text, urls } = isLong ? shorten(whole) : whole;
  const counters = publicMetrics(metrics, dialect);
  const referenced =
    post.replyTo === undefined ? undefined : [{ type: "replied_to", id: post.replyTo }];
  const keys = post.media.flatMap(({ key }) => key ?? []);
  const optional: Record<string, unknown> = {
    attachments: keys.length === 0 ? undefined : { media_keys: keys },
    author_id: post.account,
    conversation_id: conversationId,
    created_at: toSeconds(post.createdAt),
    entities: urls.length === 0 ? undefined : { urls },
    note_tweet: isLong ? noteOf(post) : undefined,
    non_public_metrics: { engagements: 0, url_link_clicks: 0, user_profile_clicks: 0 },
    organic_metrics: counters,
    public_metrics: counters,
    referenced_posts: referenced,
    referenced_tweets: referenced,
  };
  const view: Record<string, unknown> = { id: post.id, text, edit_history_post_ids: [post.id] };
  for (const [name, value] of Object.entries(optional))
    if (fields.has(name) && value !== undefined) view[name] = value;
  return view;
}

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
  return post !== undefined && existsAt(post, asOf)
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
      .filter((post) => post.replyTo === id && existsAt(post, asOf))
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
