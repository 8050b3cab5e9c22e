import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readKafkaSecurity } from "@postrider/shared/bus/kafka-security";
import { loadConfig, type EnvReader } from "@postrider/shared/config";
import { toIdentity, type OwnIdentity } from "@postrider/shared/identity/settings";
import { readDatabaseUrl } from "@postrider/shared/postgres/tls";

type Environment = Readonly<Record<string, string | undefined>>;

/** A service comes after those whose rows its own name, as an import needs it. */
export const SERVICES = ["accounts", "posts", "media", "delivery"] as const;

export type ServiceName = (typeof SERVICES)[number];

export interface Settings {
  readonly urls: Readonly<Record<ServiceName, string | undefined>>;
  readonly identity: OwnIdentity | undefined;
}

const URL_VARIABLES = {
  accounts: "ACCOUNTS_URL",
  posts: "POSTS_URL",
  media: "MEDIA_SERVICE_URL",
  delivery: "DELIVERY_URL",
} satisfies Record<ServiceName, string>;

/**
 * Default folders in which `npm start` and `npm run serve` describe what they run. The first one
 * that has a description is used; POSTRIDER_DATA_DIR overrides them.
 */
const LOCAL_FOLDER = join(import.meta.dirname, "../../../.postrider");
const SERVE_FOLDER = "/var/lib/postrider";

function findFolder(): string {
  const folders = [LOCAL_FOLDER, SERVE_FOLDER];
  return folders.find((folder) => existsSync(join(folder, "local.json"))) ?? LOCAL_FOLDER;
}

/**
 * Reads a JSON file. Returns undefined when the file does not exist: then no local stack runs, and
 * environment variables must name the services.
 */
function readJson(file: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

function readText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function readLocalUrl(stack: unknown, service: ServiceName): string | undefined {
  const { services } = (stack ?? {}) as {
    services?: Partial<Record<ServiceName, readonly { url?: unknown }[]>>;
  };
  return readText(services?.[service]?.[0]?.url);
}

function splitList(text: string | undefined): readonly string[] {
  return text?.split(",").map((part) => part.trim()) ?? [];
}

function readOperator(env: Environment, localFolder: string): OwnIdentity | undefined {
  const stored = readJson(join(localFolder, "secrets.json"))?.identityKeys;
  const { operator } = (stored ?? {}) as { operator?: unknown };
  const keys = splitList(readText(env.IDENTITY_KEYS) ?? readText(operator));
  const identity = toIdentity("operator", keys);
  const caFile = readText(env.RPC_TLS_CA_FILE);
  if (identity === undefined || caFile === undefined) return identity;
  return { ...identity, ca: readFileSync(caFile, "utf8") };
}

/**
 * Reads the settings from the environment, and missing settings from what `npm start` or
 * `npm run serve` runs.
 */
export function readSettings(
  env: Environment = process.env,
  localFolder: string = readText(env.POSTRIDER_DATA_DIR) ?? findFolder(),
): Settings {
  const stack = readJson(join(localFolder, "local.json"));
  const urlOf = (service: ServiceName): string | undefined =>
    readText(env[URL_VARIABLES[service]]) ?? readLocalUrl(stack, service);
  return {
    urls: {
      accounts: urlOf("accounts"),
      posts: urlOf("posts"),
      media: urlOf("media"),
      delivery: urlOf("delivery"),
    },
    identity: readOperator(env, localFolder),
  };
}

function readDatabaseSetup(read: EnvReader) {
  return {
    ownerUrl: readDatabaseUrl(read),
    roles: SERVICES.map((service) => ({
      service,
      password: read.string(`${service.toUpperCase()}_DATABASE_PASSWORD`),
      migrationPassword: read.string(`${service.toUpperCase()}_MIGRATION_PASSWORD`),
      webhooksPassword:
        service === "delivery"
          ? read.optionalString("DELIVERY_WEBHOOKS_DATABASE_PASSWORD")
          : undefined,
    })),
  };
}

function readBusSetup(read: EnvReader) {
  const brokers = read.list("KAFKA_BROKERS");
  if (brokers.length === 0) read.fail("KAFKA_BROKERS", "is required");
  return { brokers, security: readKafkaSecurity(read) };
}

/**
 * Reads the connection of the database owner and the passwords of each service's runtime role and
 * migration role. Throws when one of them is missing.
 */
export const loadDatabaseSetup = () => loadConfig(process.env, readDatabaseSetup);

/** Reads the connection of the database owner. Throws when it is missing. */
export const loadOwnerUrl = () =>
  loadConfig(process.env, (read) => ({ ownerUrl: readDatabaseUrl(read) })).ownerUrl;

/** Reads the address and the security settings of Kafka. Throws when `KAFKA_BROKERS` is missing. */
export const loadBusSetup = () => loadConfig(process.env, readBusSetup);
