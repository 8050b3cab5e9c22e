import { randomBytes } from "node:crypto";
import { AuthorizationCodes } from "#src/oauth/codes.ts";
import { type PrivacyLevel, type Publish, Publishes } from "#src/tiktok/publishes.ts";
import { Tokens } from "#src/tiktok/tokens.ts";
import type { Account } from "#src/world/accounts.ts";
import { type ReceivedMedia, toPosted } from "#src/world/received-media.ts";
import type { World } from "#src/world/world.ts";

export interface TiktokNetwork {
  readonly world: World;
  readonly tokens: Tokens;
  readonly codes: AuthorizationCodes;
  readonly publishes: Publishes;
}

const CODE_LIFETIME_MS = 600_000;

export function createNetwork(world: World): TiktokNetwork {
  const { store, secrets } = world;
  return {
    world,
    tokens: new Tokens(store, secrets),
    codes: new AuthorizationCodes(store, secrets, "tiktok", CODE_LIFETIME_MS),
    publishes: new Publishes(store),
  };
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

export function newPublishId(kind: "v_pub_file" | "v_pub_url" | "p_pub_url"): string {
  return `${kind}~v2-1.${randomBytes(9).readBigUInt64BE().toString()}`;
}

/** Maximum number of TikTok posts per creator and day, over all apps. */
const MAX_POSTS_PER_DAY = 15;
const DAY_MS = 86_400_000;

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
  const cover = publish.coverMs === undefined ? {} : { coverMs: publish.coverMs };
  // Readers cannot see a post that is visible only to its author.
  if (publish.privacy !== "SELF_ONLY")
    world.posts.add({
      platform: "tiktok",
      account: publish.account,
      id: postId,
      text: publish.description === "" ? publish.title : publish.description,
      media: media.map((file) => ({ ...toPosted(file), ...cover })),
      createdAt: receivedAt,
      deletedAt: null,
      createCalls: 1,
      ...(publish.options === undefined ? {} : { options: publish.options }),
    });

  return publishes.put({ ...publish, receivedAt, media, postId });
}
