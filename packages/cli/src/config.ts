import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readKafkaSecurity } from "@postrider/shared/bus/kafka-security";
import { loadConfig, type EnvReader } from "@postrider/shared/config";
import { secretToSend } from "@postrider/shared/connect/sent-secret";

type Environment = Readonly<Record<string, string | undefined>>;

/** The services that the operator's tool talks to. */
export const SERVICES = ["accounts", "posts", "media", "delivery"] as const;

export type ServiceName = (typeof SERVICES)[number];

/** Where the services are, and what they ask us to show. */
export interface Settings {
  readonly urls: Readonly<Record<ServiceName, string | undefined>>;
  readonly internalSecret: string | undefined;
}

const URL_VARIABLES = {
  accounts: "ACCOUNTS_URL",
  posts: "POSTS_URL",
  media: "MEDIA_SERVICE_URL",
  delivery: "DELIVERY_URL",
} satisfies Record<ServiceName, string>;

/** The folder in which `npm start` describes the running stack, unless POSTRIDER_DATA_DIR moves it. */
const LOCAL_FOLDER = join(import.meta.dirname, "../../../.postrider");

/** Undefined when the file is not there: then nothing runs, or something else wants to be described by variables. */
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

/** What the environment names, and for the rest the stack that `npm start` runs here. */
export function readSettings(
  env: Environment = process.env,
  localFolder: string = readText(env.POSTRIDER_DATA_DIR) ?? LOCAL_FOLDER,
): Settings {
  const stack = readJson(join(localFolder, "local.json"));
  const urlOf = (service: ServiceName): string | undefined =>
    readText(env[URL_VARIABLES[service]]) ?? readLocalUrl(stack, service);
  const secrets =
    readText(env.INTERNAL_SECRET) ??
    readText(readJson(join(localFolder, "secrets.json"))?.internalSecret);
  return {
    urls: {
      accounts: urlOf("accounts"),
      posts: urlOf("posts"),
      media: urlOf("media"),
      delivery: urlOf("delivery"),
    },
    internalSecret: secrets === undefined ? undefined : secretToSend(secrets),
  };
}

/** The services with a schema and a role of their own. */
const SCHEMAS = ["accounts", "posts", "media", "delivery"] as const;

function readDatabaseSetup(read: EnvReader) {
  return {
    ownerUrl: read.string("DATABASE_URL"),
    roles: SCHEMAS.map((service) => ({
      service,
      password: read.string(`${service.toUpperCase()}_DATABASE_PASSWORD`),
    })),
  };
}

function readBusSetup(read: EnvReader) {
  const brokers = read.list("KAFKA_BROKERS");
  if (brokers.length === 0) read.fail("KAFKA_BROKERS", "is required");
  return { brokers, security: readKafkaSecurity(read) };
}

/** What the roles are made with: the owner's connection and a password for each; throws when something is missing. */
export const loadDatabaseSetup = () => loadConfig(process.env, readDatabaseSetup);

/** Where the topics are made; throws when it is missing. */
export const loadBusSetup = () => loadConfig(process.env, readBusSetup);
