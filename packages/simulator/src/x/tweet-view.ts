import type { Post } from "#src/world/posts.ts";
import type { MetricValues } from "#src/world/reactions.ts";
import { type RenderedText, renderText } from "#src/x/render.ts";
import { isLongPost } from "#src/x/verified-types.ts";
import { weightedLength } from "#src/x/weighted-length.ts";

/** The simulator accepts fields for which it has no data, but does not return them. */
export const TWEET_FIELDS: readonly string[] = [
  "article",
  "attachments",
  "author_id",
  "card_uri",
  "community_id",
  "context_annotations",
  "conversation_id",
  "created_at",
  "display_text_range",
  "edit_controls",
  "edit_history_post_ids",
  "edit_history_tweet_ids",
  "entities",
  "geo",
  "id",
  "in_reply_to_user_id",
  "lang",
  "media_metadata",
  "non_public_metrics",
  "note_tweet",
  "organic_metrics",
  "possibly_sensitive",
  "promoted_metrics",
  "public_metrics",
  "referenced_tweets",
  "reply_settings",
  "scopes",
  "source",
  "suggested_source_links",
  "text",
  "withheld",
];

export const POST_FIELDS: readonly string[] = [
  "article",
  "article_title",
  "attachments",
  "card_uri",
  "community_id",
  "context_annotations",
  "conversation_id",
  "created_at",
  "display_text_range",
  "edit_controls",
  "entities",
  "geo",
  "id",
  "lang",
  "matched_media_notes",
  "media_metadata",
  "non_public_metrics",
  "note_post",
  "note_request_suggestions",
  "organic_metrics",
  "paid_partnership",
  "possibly_sensitive",
  "promoted_metrics",
  "public_metrics",
  "reply_settings",
  "scopes",
  "source",
  "suggested_source_links",
  "suggested_source_links_with_counts",
  "text",
  "withheld",
];

/** With a precision of one second. */
export function toSeconds(instant: number): string {
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

export function tweetView(
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
