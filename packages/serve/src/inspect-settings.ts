import { layoutOf } from "@postrider/local/stack/layout";
import { makeSecrets } from "@postrider/local/stack/secrets";
import { perService, type ServiceName, serviceNames } from "@postrider/local/stack/services";
import { ConfigError, EnvReader, loadConfig } from "@postrider/shared/config";
import { type GivenSettings, readServeSettings } from "#src/config.ts";
import {
  type KnownSettings,
  portsFrom,
  serviceSettings,
  type ServePlan,
} from "#src/service-settings.ts";
import { readSettings as readAccounts } from "../../../services/accounts/src/config.ts";
import { readSettings as readDelivery } from "../../../services/delivery/src/config.ts";
import { readSettings as readGateway } from "../../../services/gateway/src/config.ts";
import { readSettings as readMedia } from "../../../services/media/src/config.ts";
import { readSettings as readPosts } from "../../../services/posts/src/config.ts";

const READERS: Readonly<Record<ServiceName, (read: EnvReader) => object>> = {
  gateway: readGateway,
  accounts: readAccounts,
  posts: readPosts,
  media: readMedia,
  delivery: readDelivery,
};

export interface Inspection {
  /** Of `serve` and of all services, each once, found before any of them is started. */
  readonly faults: readonly string[];
  readonly known: KnownSettings;
}

export function inspectSettings({ env, inFile }: GivenSettings): Inspection {
  const reader = new EnvReader(env);
  const own = readServeSettings(reader);
  const known = perService((service) => namesRead(READERS[service], env));
  // The faults of the services are listed although the database is not known.
  const isUrl = URL.parse(own.databaseUrl) !== null;
  const databaseUrl = isUrl ? own.databaseUrl : "postgres://127.0.0.1/postgres";
  const plan: ServePlan = {
    serve: { ...own, databaseUrl },
    settings: env,
    secrets: makeSecrets(),
    layout: layoutOf(own.dataDir),
    ports: portsFrom(own.port),
    known,
  };
  const names = new Set([...namesRead(readServeSettings, env), ...Object.values(known).flat()]);
  const faults = [
    ...reader.faults,
    ...findUnknown(inFile, names),
    ...findIgnored(plan),
    ...serviceNames.flatMap((service) => findFaults(service, plan)),
  ];
  return { faults: [...new Set(faults)], known };
}

function namesRead(
  read: (reader: EnvReader) => object,
  env: GivenSettings["env"],
): readonly string[] {
  const reader = new EnvReader(env);
  read(reader);
  return reader.settings.map(({ name }) => name);
}

/** Without this, a misspelled setting would silently have no effect. */
function findUnknown(inFile: readonly string[], known: ReadonlySet<string>): readonly string[] {
  return inFile
    .filter((name) => !known.has(name) && !/^(?:NODE_|OTEL_)|_PROXY$/i.test(name))
    .map((name) => `${name} is not a setting; docs/configuration.md lists all`);
}

/** A leaked key would stay good although its setting names another one. */
function findIgnored({ settings, layout }: ServePlan): readonly string[] {
  return ["IDENTITY_KEYS", "TRUSTED_IDENTITIES"]
    .filter((name) => settings[name] !== undefined)
    .map(
      (name) =>
        `${name} cannot be set for \`serve\`, which keeps the identities of its services in ${layout.secretsFile}: remove the setting; docs/operations.md says under "Key rotation" how to replace a key`,
    );
}

function findFaults(service: ServiceName, plan: ServePlan): readonly string[] {
  try {
    loadConfig(serviceSettings(service, plan), READERS[service]);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}
