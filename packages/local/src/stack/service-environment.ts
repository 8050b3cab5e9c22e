import { PLATFORM_IDS } from "@postrider/platforms/platform-id";
import { toTrustedIdentities } from "@postrider/shared/identity/identity-keys";
import type { IdentityName } from "@postrider/shared/identity/names";
import { serviceDatabaseUrl } from "@postrider/shared/postgres/service-role";
import type { Secrets } from "#src/stack/secrets.ts";
import { databaseServices, type ServiceName } from "#src/stack/services.ts";
import { type TimeSettings, timeEnvironment } from "#src/stack/time-settings.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface StackPlan {
  /** Override the stack's defaults, but not its ports, addresses and secrets. */
  readonly settings: Environment;
  readonly secrets: Secrets;
  readonly time: TimeSettings;
  readonly databaseUrl: string;
  /** Addresses of the Kafka brokers; empty = the event bus is in Postgres. */
  readonly kafkaBrokers: readonly string[];
  readonly urls: Readonly<Record<ServiceName, string>>;
  readonly simulatorUrl: string;
  readonly mediaDir: string;
  readonly mediaTempDir: string;
}

/** With the connection string of its own role only, and keys only for data that it stores. */
export function serviceEnvironment(
  service: ServiceName,
  ports: { readonly port: number; readonly metricsPort: number },
  plan: StackPlan,
): Record<string, string> {
  const defaults = {
    POSTRIDER_ENV: "development",
    LOG_LEVEL: "info",
    DEPLOYMENT_ID: "local",
    PUBLIC_URL: plan.urls.gateway,
    ...platformEnvironment(plan),
  };
  const wiring = {
    ...serviceWiring(service, ports, plan),
    SIMULATOR_URL: plan.simulatorUrl,
    ...busEnvironment(plan),
    ...timeEnvironment(plan.time),
  };
  return withoutUndefined({
    ...defaults,
    ...appDefaults(service, plan),
    ...dataEnvironment(service, plan),
    ...passedOn(plan.settings),
    ...wiring,
  });
}

/** What connects a service with the others on this machine, and with its own schema. */
export function serviceWiring(
  service: ServiceName,
  ports: { readonly port: number; readonly metricsPort: number },
  plan: Pick<StackPlan, "settings" | "secrets" | "urls" | "databaseUrl">,
): Record<string, string> {
  const { urls, secrets } = plan;
  return {
    HOST: "127.0.0.1",
    PORT: String(ports.port),
    METRICS_PORT: String(ports.metricsPort),
    IDENTITY_KEYS: secrets.identityKeys[identityOf(service, plan.settings.ROLE)],
    TRUSTED_IDENTITIES: toTrustedIdentities(secrets.identityKeys),
    ACCOUNTS_URL: urls.accounts,
    POSTS_URL: urls.posts,
    MEDIA_SERVICE_URL: urls.media,
    DELIVERY_URL: urls.delivery,
    ...databaseEnvironment(service, plan),
  };
}

/** Parts of delivery that only read have identities of their own. */
function identityOf(service: ServiceName, role: string | undefined): IdentityName {
  if (service === "delivery" && (role === "webhooks" || role === "engagement"))
    return `delivery-${role}`;
  return service;
}

function busEnvironment({ kafkaBrokers }: StackPlan): Record<string, string> {
  return kafkaBrokers.length === 0
    ? { BUS: "postgres" }
    : { BUS: "kafka", KAFKA_BROKERS: kafkaBrokers.join(",") };
}

function databaseEnvironment(
  service: ServiceName,
  plan: Pick<StackPlan, "secrets" | "databaseUrl">,
): Record<string, string> {
  const owner = databaseServices.find((name) => name === service);
  if (owner === undefined) return {};

  const role = { service: owner, password: plan.secrets.rolePasswords[owner] };
  return { DATABASE_URL: serviceDatabaseUrl(plan.databaseUrl, role) };
}

function platformEnvironment(plan: StackPlan): Record<string, string> {
  const baseUrls = PLATFORM_IDS.map((platform) => [
    `${platform.toUpperCase()}_BASE_URL`,
    `${plan.simulatorUrl}/${platform}`,
  ]);
  return {
    ...Object.fromEntries(baseUrls),
    BLUESKY_VIDEO_BASE_URL: `${plan.simulatorUrl}/bluesky`,
    // The local stack enables all features, so that developers can try each.
    PLATFORM_FEATURES: "comments,messages,metrics",
    // The simulated Facebook lets every Page publish a post that was created unpublished, which
    // real Pages may not all do.
    FACEBOOK_TWO_PHASE: "on",
  };
}

/** The simulated platforms accept the credentials of any app. */
function appDefaults(service: ServiceName, { secrets }: StackPlan): Record<string, string> {
  if (service !== "accounts") return {};
  return {
    INSTAGRAM_CLIENT_ID: "postrider-local",
    INSTAGRAM_CLIENT_SECRET: secrets.platformAppSecret,
    X_CLIENT_ID: "postrider-local",
    X_CLIENT_SECRET: secrets.platformAppSecret,
    FACEBOOK_CLIENT_ID: "postrider-local",
    FACEBOOK_CLIENT_SECRET: secrets.platformAppSecret,
    YOUTUBE_CLIENT_ID: "postrider-local",
    YOUTUBE_CLIENT_SECRET: secrets.platformAppSecret,
    TIKTOK_CLIENT_KEY: "postrider-local",
    TIKTOK_CLIENT_SECRET: secrets.platformAppSecret,
    TELEGRAM_BOT_TOKEN: `7000000000:${secrets.platformAppSecret.slice(0, 35)}`,
  };
}

/** The keys of the data that the service stores or signs, and its folders. */
export function dataEnvironment(
  service: ServiceName,
  plan: Pick<StackPlan, "secrets" | "mediaDir" | "mediaTempDir">,
): Record<string, string> {
  const { secrets } = plan;
  if (service === "accounts") return { CREDENTIAL_KEYS: secrets.credentialKeys };
  const media = { MEDIA_KEY: secrets.mediaKey };
  if (service === "media")
    return { ...media, MEDIA_DIR: plan.mediaDir, MEDIA_TEMP_DIR: plan.mediaTempDir };
  if (service === "delivery") return { ...media, HANDLE_KEYS: secrets.handleKeys };
  return service === "gateway" ? media : {};
}

/** Set by npm, or with another meaning for `npm start` than for a service. */
const notPassedOn =
  /^(npm_|DATABASE_URL$|KAFKA_BROKERS$|BUS$|HOST$|PORT$|METRICS_PORT$|INIT_CWD$|NODE_CHANNEL)/;

export function passedOn(settings: Environment): Environment {
  return Object.fromEntries(Object.entries(settings).filter(([name]) => !notPassedOn.test(name)));
}

export function withoutUndefined(values: Environment): Record<string, string> {
  const entries = Object.entries(values).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return Object.fromEntries(entries);
}
