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

/** Does not compile when a platform, or a member of one, is missing. */
export const PLATFORMS = {
  instagram,
  x,
  facebook,
  tiktok,
  youtube,
  telegram,
  bluesky,
} satisfies Record<PlatformId, Platform>;

type Creating =
  | "publishing"
  | "comments"
  | "privateReplies"
  | "metrics"
  | "diagnosis"
  | "available";

type Created<M extends Creating> = Platform[M] extends ((settings: never) => infer C) | undefined
  ? C
  : never;

export type Connectors<M extends Creating> = undefined extends Platform[M]
  ? Readonly<Partial<Record<PlatformId, Created<M>>>>
  : Readonly<Record<PlatformId, Created<M>>>;

export type ConnectorSettings<M extends Creating> = {
  readonly [P in PlatformId]: (typeof PLATFORMS)[P][M] extends (settings: infer S) => unknown
    ? S
    : unknown;
};

export type PublishingSettings = ConnectorSettings<"publishing">;

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
