import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { STOP_GRACE_MS } from "../../packages/platforms/src/publishing/upload-time.ts";
import { describeSettings, type EnvReader } from "../../packages/shared/src/config.ts";
import type { Setting } from "../../packages/shared/src/config/settings.ts";
import { GRACE_MS } from "../../packages/shared/src/process/lifecycle.ts";
import { readSettings as readAccounts } from "../../services/accounts/src/config.ts";
import { readSettings as readDelivery } from "../../services/delivery/src/config.ts";
import { readSettings as readGateway } from "../../services/gateway/src/config.ts";
import { readSettings as readMedia } from "../../services/media/src/config.ts";
import { readSettings as readPosts } from "../../services/posts/src/config.ts";
import { root } from "../check/run-command.ts";

/** How each service reads its environment. */
export const READERS = {
  gateway: readGateway,
  accounts: readAccounts,
  posts: readPosts,
  media: readMedia,
  delivery: readDelivery,
} satisfies Record<string, (read: EnvReader) => object>;

export type ServiceName = keyof typeof READERS;

/** In the order in which they are listed. */
export const SERVICES = Object.keys(READERS) as readonly ServiceName[];

/** The setting that says where a service is. */
export const PEER_SETTINGS: Readonly<Record<string, ServiceName>> = {
  ACCOUNTS_URL: "accounts",
  POSTS_URL: "posts",
  MEDIA_SERVICE_URL: "media",
  DELIVERY_URL: "delivery",
};

/** Whether it is one of our five services. */
export function isService(name: string): name is ServiceName {
  return Object.hasOwn(READERS, name);
}

/** Everything that a service reads from its environment. */
export function settingsOf(service: ServiceName): readonly Setting[] {
  return describeSettings(READERS[service]);
}

/** Whom a service can ask, by its settings. */
export function peersBySettings(service: ServiceName): readonly ServiceName[] {
  return toSorted(settingsOf(service).map(({ name }) => PEER_SETTINGS[name]));
}

/** Whom a service asks, by what it imports: contracts of services that are not its own, and clients named after one. */
export function peersByImports(service: ServiceName): readonly ServiceName[] {
  const folder = join(root, "services", service, "src");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".ts") && !file.endsWith(".test.ts"),
  );
  const imported = files.flatMap((file) =>
    [
      ...readFileSync(join(folder, file), "utf8").matchAll(
        /^import \{.*"@postrider\/contracts\/(\w+)\/v\d+\/\w+_service_pb";$/gm,
      ),
    ].map(([, domain = ""]) => domain),
  );
  const clients = files.flatMap((file) => /(?:^|\/)clients\/([a-z]+)/.exec(file)?.[1] ?? []);
  const found = [...imported, ...clients].filter(isService);
  return toSorted(found.filter((name) => name !== service));
}

function toSorted(names: readonly (ServiceName | undefined)[]): readonly ServiceName[] {
  return SERVICES.filter((service) => names.includes(service));
}

/** How long a service may take to stop, by the name that its `main.ts` gives. */
const GRACES: Readonly<Record<string, number>> = { GRACE_MS, STOP_GRACE_MS };

/** How long a service may take to stop, as its `main.ts` says. */
export function graceMsOf(service: ServiceName): number {
  const file = join(root, "services", service, "src/main.ts");
  const [, grace] = /graceMs: ([A-Z_]+)/.exec(readFileSync(file, "utf8")) ?? [];
  const graceMs = GRACES[grace ?? ""];
  if (graceMs === undefined) throw new Error(`${file} names no graceMs that is known here`);
  return graceMs;
}

/** The version of everything that this checkout builds. */
export function readVersion(): string {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    version: string;
  };
  return version;
}
