import { type Call, contentType, jsonObject, type Moment, type Reply } from "#src/http/call.ts";
import { OAuthTokens } from "#src/oauth/tokens.ts";
import type { Endpoint, Route } from "#src/platform.ts";
import { apiError, refuse, refuseParameter } from "#src/tiktok/errors.ts";
import { type PrivacyLevel, type Publish, Publishes } from "#src/tiktok/publishes.ts";
import type { Account } from "#src/world/accounts.ts";
import { DAY_MS, MINUTE_MS } from "#src/world/limits.ts";
import { type ReceivedMedia, toPosted } from "#src/world/received-media.ts";
import type { World } from "#src/world/world.ts";

export const REFRESH_LIFETIME_MS = 180 * DAY_MS;

export type TiktokNetwork = ReturnType<typeof createNetwork>;

export function createNetwork(world: World) {
  return {
    world,
    tokens: new OAuthTokens(world, "tiktok", {
      codeLifetimeMs: 600_000,
      accessPrefix: "act.",
      refreshPrefix: "rft.",
      characters: 64,
      accessLifetimeMs: 7_200_000,
      refreshLifetimeMs: REFRESH_LIFETIME_MS,
      rotates: true,
      revokes: "authorization",
    }),
    publishes: new Publishes(world.store),
  };
}

export interface TiktokCall extends Moment {
  readonly call: Call;
  readonly account: Account;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface TiktokEndpoint extends Endpoint<TiktokNetwork, TiktokCall> {
  readonly fetches?: Route["fetches"];
  readonly scope: string;
  readonly bucket: string;
  readonly perMinute: number;
}

/** A missing body counts as an empty object. */
function bodyOf(call: Call): Readonly<Record<string, unknown>> {
  if (call.method === "GET" || call.body.length === 0) return {};
  const body = contentType(call) === "application/json" ? jsonObject(call) : undefined;
  return body ?? refuseParameter("The body is not a JSON object or has another Content-Type.");
}

export function serve(
  network: TiktokNetwork,
  endpoint: TiktokEndpoint,
  call: Call,
  moment: Moment,
): Reply {
  const access = network.tokens.accessOf(call, moment.now);
  if (access === undefined) return apiError("access_token_invalid");
  const { account, scopes } = access;
  if (!scopes.includes(endpoint.scope)) return apiError("scope_not_authorized");
  const key = `tiktok:${endpoint.bucket}:${account.externalId}`;
  const rule = { key, limit: endpoint.perMinute, windowMs: MINUTE_MS };
  if (!network.world.limits.take(rule, moment.now)) refuse("rate_limit_exceeded");
  return endpoint.handle(network, { call, account, body: bodyOf(call), ...moment });
}

/** The prefix of the creator's username decides what the creator may post. */
export interface Creator {
  readonly privacyLevels: readonly PrivacyLevel[];
  readonly maxSeconds: number;
  readonly isAudited: boolean;
}

const MAX_VIDEO_SECONDS = 600;
const MAX_SHORT_VIDEO_SECONDS = 10;

/**
 * A creator `private…` has no public posts; a creator `short…` has only videos of up to ten
 * seconds.
 */
export function creatorOf({ world }: TiktokNetwork, { username }: Account): Creator {
  const widest = username.startsWith("private") ? "FOLLOWER_OF_CREATOR" : "PUBLIC_TO_EVERYONE";
  return {
    privacyLevels: [widest, "MUTUAL_FOLLOW_FRIENDS", "SELF_ONLY"],
    maxSeconds: username.startsWith("short") ? MAX_SHORT_VIDEO_SECONDS : MAX_VIDEO_SECONDS,
    isAudited: world.settings.values.audited,
  };
}

/** Maximum number of TikTok posts per creator and day, over all apps. */
const MAX_POSTS_PER_DAY = 15;

export function postsPerDay({ world }: TiktokNetwork): number {
  return Math.max(0, MAX_POSTS_PER_DAY - world.settings.values.tiktokPostsOfOtherApps);
}

/**
 * TikTok counts again when it processes a post, because other apps may have published in the
 * meantime ("Get post status", fail reasons).
 */
function hasTooManyPosts(network: TiktokNetwork, account: string, now: number): boolean {
  const { publishes, world } = network;
  const { quotas, tiktokPostsOfOtherApps } = world.settings.values;
  return (
    quotas &&
    tiktokPostsOfOtherApps > 0 &&
    publishes.countPublished(account, now - DAY_MS) >= postsPerDay(network)
  );
}

export function complete(
  network: TiktokNetwork,
  publish: Publish,
  received: {
    readonly media: readonly ReceivedMedia[];
    readonly failReason: string | undefined;
    readonly now: number;
  },
): Publish {
  const { world, publishes } = network;
  const { media, now: receivedAt } = received;
  const isTooMany = hasTooManyPosts(network, publish.account, receivedAt);
  const failReason = received.failReason ?? (isTooMany ? "spam_risk_too_many_posts" : undefined);
  if (failReason !== undefined) return publishes.put({ ...publish, receivedAt, failReason });
  const postId = world.snowflakes.next(receivedAt);
  const { coverMs } = publish;
  // Readers cannot see a post that is visible only to its author.
  if (publish.privacy !== "SELF_ONLY")
    world.posts.add({
      platform: "tiktok",
      account: publish.account,
      id: postId,
      text: publish.description === "" ? publish.title : publish.description,
      media: media.map((file) => ({ ...toPosted(file), coverMs })),
      createdAt: receivedAt,
      options: publish.options,
    });
  return publishes.put({ ...publish, receivedAt, media, postId });
}
