import { randomBytes } from "node:crypto";
import { AuthorizationCodes } from "#src/oauth/codes.ts";
import { Publishes } from "#src/tiktok/publishes.ts";
import type { PrivacyLevel, Publish } from "#src/tiktok/publishes.ts";
import { Tokens } from "#src/tiktok/tokens.ts";
import type { Account } from "#src/world/accounts.ts";
import { toPosted } from "#src/world/received-media.ts";
import type { ReceivedMedia } from "#src/world/received-media.ts";
import type { World } from "#src/world/world.ts";

/** What TikTok keeps besides the shared world. */
export interface TiktokNetwork {
  readonly world: World;
  readonly tokens: Tokens;
  readonly codes: AuthorizationCodes;
  readonly publishes: Publishes;
}

const CODE_LIFE_MS = 600_000;

export function createNetwork(world: World): TiktokNetwork {
  const { store, secrets } = world;
  return {
    world,
    tokens: new Tokens(store, secrets),
    codes: new AuthorizationCodes(store, secrets, "tiktok", CODE_LIFE_MS),
    publishes: new Publishes(store),
  };
}

/** What a creator may do; how the username begins decides, so that tests can ask for each kind. */
export interface Creator {
  readonly privacyLevels: readonly PrivacyLevel[];
  readonly maxSeconds: number;
  /** TikTok has audited the app that acts for the creator. */
  readonly isAudited: boolean;
}

const LONGEST_SECONDS = 600;
const SHORT_SECONDS = 10;

/** `private…` has no public posts, `short…` only films of ten seconds. */
export function creatorOf({ world }: TiktokNetwork, { username }: Account): Creator {
  const widest = username.startsWith("private") ? "FOLLOWER_OF_CREATOR" : "PUBLIC_TO_EVERYONE";
  return {
    privacyLevels: [widest, "MUTUAL_FOLLOW_FRIENDS", "SELF_ONLY"],
    maxSeconds: username.startsWith("short") ? SHORT_SECONDS : LONGEST_SECONDS,
    isAudited: world.settings.values.audited,
  };
}

/** At most 64 characters. */
export function newPublishId(kind: "v_pub_file" | "v_pub_url" | "p_pub_url"): string {
  return `${kind}~v2-1.${randomBytes(9).readBigUInt64BE().toString()}`;
}

/** All bytes are here: it becomes a post, or fails for what is wrong with them. */
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
  const { media, failReason, now: receivedAt } = received;
  if (failReason !== undefined) {
    return publishes.put({ ...publish, receivedAt, failReason });
  }
  const postId = world.snowflakes.next(receivedAt);
  // What only its author sees is no post to readers.
  if (publish.privacy !== "SELF_ONLY") {
    world.posts.add({
      platform: "tiktok",
      account: publish.account,
      id: postId,
      text: publish.description === "" ? publish.title : publish.description,
      media: media.map(toPosted),
      createdAt: receivedAt,
      deletedAt: null,
      createCalls: 1,
    });
  }
  return publishes.put({ ...publish, receivedAt, media, postId });
}
