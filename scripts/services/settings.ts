import { describeSettings, type EnvReader } from "../../packages/shared/src/config.ts";
import type { Setting } from "../../packages/shared/src/config/settings.ts";
import { readSettings as readAccounts } from "../../services/accounts/src/config.ts";
import { readSettings as readDelivery } from "../../services/delivery/src/config.ts";
import { readSettings as readGateway } from "../../services/gateway/src/config.ts";
import { readSettings as readMedia } from "../../services/media/src/config.ts";
import { readSettings as readPosts } from "../../services/posts/src/config.ts";

/** The functions with which the five services read their settings from the environment. */
export const READERS = {
  gateway: readGateway,
  accounts: readAccounts,
  posts: readPosts,
  media: readMedia,
  delivery: readDelivery,
} satisfies Record<string, (read: EnvReader) => object>;

export type ServiceName = keyof typeof READERS;

/** The five services, in the order in which documents list them. */
export const SERVICES = Object.keys(READERS) as readonly ServiceName[];

/** Whether a text is the name of one of the five services. */
export function isService(name: string): name is ServiceName {
  return Object.hasOwn(READERS, name);
}

/** Every setting that a service reads from its environment. */
export function settingsOf(service: ServiceName): readonly Setting[] {
  return describeSettings(READERS[service]);
}
