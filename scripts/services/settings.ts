import { describeSettings, type EnvReader } from "../../packages/shared/src/config.ts";
import type { Setting } from "../../packages/shared/src/config/settings.ts";
import { readSettings as readAccounts } from "../../services/accounts/src/config.ts";
import { readSettings as readDelivery } from "../../services/delivery/src/config.ts";
import { readSettings as readGateway } from "../../services/gateway/src/config.ts";
import { readSettings as readMedia } from "../../services/media/src/config.ts";
import { readSettings as readPosts } from "../../services/posts/src/config.ts";

export const READERS = {
  gateway: readGateway,
  accounts: readAccounts,
  posts: readPosts,
  media: readMedia,
  delivery: readDelivery,
} satisfies Record<string, (read: EnvReader) => object>;

export type ServiceName = keyof typeof READERS;

/** In the order of the documents. */
export const SERVICES = Object.keys(READERS) as readonly ServiceName[];

export function isService(name: string): name is ServiceName {
  return Object.hasOwn(READERS, name);
}

const described = new Map<ServiceName, readonly Setting[]>();

export function settingsOf(service: ServiceName): readonly Setting[] {
  const settings = described.get(service) ?? describeSettings(READERS[service]);
  described.set(service, settings);
  return settings;
}
