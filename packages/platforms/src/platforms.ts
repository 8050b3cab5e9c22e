import type { EnvReader } from "@postrider/shared/config";
import type { OutboundRules } from "@postrider/shared/http/outbound-rules";
import { bluesky } from "#src/bluesky/platform.ts";
import { facebook } from "#src/facebook/platform.ts";
import { instagram } from "#src/instagram/platform.ts";
import { telegram } from "#src/telegram/platform.ts";
import { tiktok } from "#src/tiktok/platform.ts";
import { x } from "#src/x/platform.ts";
import { youtube } from "#src/youtube/platform.ts";
import { PLATFORM_IDS, type PlatformId } from "./platform-id.ts";
import type { Platform } from "./platform.ts";

/** Every platform. The code does not compile when one is missing, or when one lacks a member. */
export const PLATFORMS = {
  instagram,
  x,
  facebook,
  tiktok,
  youtube,
  telegram,
  bluesky,
} satisfies Record<PlatformId, Platform>;

/** The members of a platform that create something from the addresses and options with which the platform is called. */
type Creating =
  | "publishing"
  | "livePublishing"
  | "comments"
  | "privateReplies"
  | "metrics"
  | "diagnosis"
  | "available";

/** What a member creates. */
type Created<M extends Creating> = Platform[M] extends ((settings: never) => infer C) | undefined
  ? C
  : never;

/** What a member of each platform creates. A platform without this member is absent. */
export type Connectors<M extends Creating> = undefined extends Platform[M]
  ? Readonly<Partial<Record<PlatformId, Created<M>>>>
  : Readonly<Record<PlatformId, Created<M>>>;

/** For each platform, the addresses and options from which its member creates something. */
export type ConnectorSettings<M extends Creating> = {
  readonly [P in PlatformId]: (typeof PLATFORMS)[P][M] extends (settings: infer S) => unknown
    ? S
    : unknown;
};

/** The addresses and options with which each platform publishes. They have what all other connectors need, too. */
export type PublishingSettings = ConnectorSettings<"publishing">;

/** Reads from the settings the addresses and options with which each platform is called. */
export function readPublishingSettings(
  read: EnvReader,
  outbound: OutboundRules,
): PublishingSettings {
  const entries = PLATFORM_IDS.map((id) => [
    id,
    PLATFORMS[id].environment.readSettings(read, outbound),
  ]);
  return Object.fromEntries(entries) as PublishingSettings;
}

/** Creates for each platform the connector of a kind, for example `createConnectors("comments", settings)`. */
export function createConnectors<M extends Creating>(
  member: M,
  settings: ConnectorSettings<M>,
): Connectors<M> {
  const entries = PLATFORM_IDS.flatMap((id) => {
    const create: Platform[Creating] = PLATFORMS[id][member];
    return create === undefined ? [] : [[id, create(settings[id] as never)]];
  });
  return Object.fromEntries(entries) as Connectors<M>;
}
