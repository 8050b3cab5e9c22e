import { IDENTITY_NAMES } from "@postrider/shared/identity/names";
import { expect, test } from "vitest";
import { makeSecrets } from "#src/stack/secrets.ts";
import {
  type Environment,
  serviceEnvironment,
  type StackPlan,
} from "#src/stack/service-environment.ts";
import { perService, type ServiceName } from "#src/stack/services.ts";

const secrets = makeSecrets();

function environmentOf(
  service: ServiceName,
  settings: Environment = {},
  kafkaBrokers: string[] = [],
): Record<string, string> {
  const plan: StackPlan = {
    settings,
    secrets,
    time: { LEASE_SECONDS: 7 },
    databaseUrl: "postgres://postgres:owner@127.0.0.1:5000/postgres",
    kafkaBrokers,
    urls: perService((name) => `http://${name}.test`),
    simulatorUrl: "http://127.0.0.1:6000",
    mediaDir: "/data/media",
    mediaTempDir: "/data/media-temp",
  };
  return serviceEnvironment(service, { port: 7000, metricsPort: 7001 }, plan);
}

test("a service connects with its own database role and never sees the password of another role", () => {
  const environment = environmentOf("posts");

  expect(environment.DATABASE_URL).toBe(
    `postgres://postrider_posts:${secrets.rolePasswords.posts}@127.0.0.1:5000/postgres`,
  );
  expect(JSON.stringify(environment)).not.toContain(secrets.rolePasswords.accounts);
  expect(JSON.stringify(environment)).not.toContain(secrets.migrationPasswords.posts);
  expect(JSON.stringify(environment)).not.toContain("owner");
});

test("the gateway is given no DATABASE_URL even if the launcher's environment has one", () => {
  expect(
    environmentOf("gateway", { DATABASE_URL: "postgres://owner@other-host/x" }),
  ).not.toHaveProperty("DATABASE_URL");
});

test("only the accounts service gets the keys that encrypt credentials, and only the delivery service those that encrypt handles", () => {
  expect(environmentOf("accounts")).toMatchObject({ CREDENTIAL_KEYS: secrets.credentialKeys });
  expect(environmentOf("delivery")).not.toHaveProperty("CREDENTIAL_KEYS");
  expect(environmentOf("delivery")).toMatchObject({ HANDLE_KEYS: secrets.handleKeys });
  expect(environmentOf("accounts")).not.toHaveProperty("HANDLE_KEYS");
});

test("settings in the launcher's environment reach the services and override defaults, but not the ports, addresses and secrets of the local stack", () => {
  const environment = environmentOf("delivery", {
    LOG_LEVEL: "debug",
    X_RESEND: "off",
    X_BASE_URL: "https://platform.test",
    PORT: "1",
    IDENTITY_KEYS: "mine",
    npm_config_cache: "/cache",
  });

  expect(environment).toMatchObject({
    LOG_LEVEL: "debug",
    X_RESEND: "off",
    X_BASE_URL: "https://platform.test",
    TELEGRAM_BASE_URL: "http://127.0.0.1:6000/telegram",
    PORT: "7000",
    IDENTITY_KEYS: secrets.identityKeys.delivery,
    LEASE_SECONDS: "7",
  });
  expect(environment).not.toHaveProperty("npm_config_cache");
});

test("each service is given its own private key, the private key of no other process, and the public keys of all processes", () => {
  const environment = environmentOf("posts");
  const { posts, ...others } = secrets.identityKeys;

  expect(environment.IDENTITY_KEYS).toBe(posts);
  for (const key of Object.values(others)) expect(Object.values(environment)).not.toContain(key);
  const names = environment.TRUSTED_IDENTITIES?.split(",").map((entry) => entry.split(":")[0]);
  expect(names).toEqual(IDENTITY_NAMES);
});

test("the event bus is in Postgres unless Kafka brokers are configured", () => {
  expect(environmentOf("posts").BUS).toBe("postgres");
  expect(environmentOf("posts", {}, ["a:1", "b:2"])).toMatchObject({
    BUS: "kafka",
    KAFKA_BROKERS: "a:1,b:2",
  });
});
