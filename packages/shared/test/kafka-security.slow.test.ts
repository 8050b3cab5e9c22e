import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Bus } from "#src/bus.ts";
import { openKafka, withAdmin } from "#src/bus/kafka-client.ts";
import { CONSUMED_TOPICS, grantKafkaRights, listKafkaRights } from "#src/bus/kafka-rights.ts";
import { readKafkaSecurity } from "#src/bus/kafka-security.ts";
import { createKafkaBus, ensureTopics } from "#src/bus/kafka.ts";
import { openBus } from "#src/bus/open.ts";
import { domainsOf, PRODUCERS, TOPICS } from "#src/bus/topics.ts";
import { ConfigError, loadConfig } from "#src/config.ts";
import type { Sql } from "#src/postgres.ts";
import { selfSignedCertificate } from "#src/testing/certificate.ts";
import { eventually } from "#src/testing/poll.ts";
import { startKafka, type EmbeddedKafka } from "../../local/src/kafka/kafka.ts";
import { makeTestFolder } from "../../local/src/stack/test-folder.ts";
import { createDatabase, logger, OWN_DATA } from "./test-service.ts";

const PASSWORD = "correct horse";
const SERVICES = [...new Set(Object.values(PRODUCERS))];
const SERVICE_USERS = [...SERVICES, "delivery-webhooks"]
  .map((name) => `user_postrider-${name}="${PASSWORD}"`)
  .join(" ");

const read = (env: Readonly<Record<string, string>>) => loadConfig(env, readKafkaSecurity);

const folder = makeTestFolder("kafka");
const caFile = join(folder, "ca.pem");
const env = {
  KAFKA_TLS: "true",
  KAFKA_CA_FILE: caFile,
  KAFKA_USERNAME: "postrider",
  KAFKA_PASSWORD: PASSWORD,
  KAFKA_SASL_MECHANISM: "plain",
};
let kafka: EmbeddedKafka;
const client = (changed: Readonly<Record<string, string>> = {}) => ({
  brokers: [`localhost:${kafka.port}`],
  security: read({ ...env, ...changed }),
  clientId: "test",
  logger,
});
const listTopics = async (changed: Readonly<Record<string, string>>) =>
  await withAdmin(openKafka(client(changed)), (admin) => admin.listTopics());

beforeAll(async () => {
  const { key, certificate } = selfSignedCertificate("localhost");
  writeFileSync(caFile, certificate);
  const inOneLine = (pem: string) => pem.replaceAll("\n", "\\n");
  kafka = await startKafka({
    dataDir: join(folder, "data"),
    properties: ({ port, controllerPort }) => ({
      listeners: `SASL_SSL://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
      "advertised.listeners": `SASL_SSL://localhost:${port}`,
      "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,SASL_SSL:SASL_SSL",
      "inter.broker.listener.name": "SASL_SSL",
      "sasl.mechanism.inter.broker.protocol": "PLAIN",
      "sasl.enabled.mechanisms": "PLAIN",
      "listener.name.sasl_ssl.plain.sasl.jaas.config": `org.apache.kafka.common.security.plain.PlainLoginModule required username="broker" password="broker" user_broker="broker" user_postrider="${PASSWORD}" ${SERVICE_USERS};`,
      "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
      // Connections of the Kafka controller are not authenticated: Kafka treats them as the user
      // `ANONYMOUS`.
      "super.users": "User:broker;User:postrider;User:ANONYMOUS",
      "ssl.keystore.type": "PEM",
      "ssl.keystore.certificate.chain": inOneLine(certificate),
      "ssl.keystore.key": inOneLine(key),
      // The Kafka broker connects to itself when it starts, and needs a truststore for that.
      "ssl.truststore.type": "PEM",
      "ssl.truststore.certificates": inOneLine(certificate),
    }),
  });
});
afterAll(async () => {
  await kafka[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

test("a Kafka broker with TLS and authentication accepts a client with the right settings", async () => {
  await ensureTopics(client(), ["sample.events.v1"], 1);
  expect(await listTopics({})).toContain("sample.events.v1");
});

test.each([
  ["a wrong password", { KAFKA_PASSWORD: "wrong" }, /Authentication failed/i],
  ["a certificate of an unknown authority", { KAFKA_CA_FILE: "" }, /self.signed certificate/i],
  ["no encryption", { KAFKA_TLS: "", KAFKA_USERNAME: "" }, /./],
])(
  "a Kafka broker with TLS and authentication refuses a client with %s",
  async (_, changed, message) => {
    await expect(listTopics(changed)).rejects.toThrow(message);
  },
);

/** Opens the Kafka bus as the given service does, with the Kafka user of that service. */
function openAs(service: string, sql: Sql): Bus {
  const options = client({ KAFKA_USERNAME: `postrider-${service}` });
  return createKafkaBus({ ...options, ...OWN_DATA, sql, onFatal: () => undefined });
}

test("a service's Kafka user writes only its own topics, reads only what the service consumes and uses only its own consumer groups", async () => {
  await ensureTopics(client(), TOPICS, 1);
  await using database = await createDatabase(4);
  const { sql } = database;
  await using posts = openAs("posts", sql);
  await using delivery = openAs("delivery", sql);
  const publish = (bus: Bus, topic: string) =>
    sql.begin((tx) => bus.publish(tx, topic, [{ key: "k", headers: {}, value: topic }]));
  await expect(publish(posts, "posts.events.v1")).rejects.toThrow(/not authorized/i);

  const rights = listKafkaRights("postrider-");
  await grantKafkaRights(client(), rights);
  await grantKafkaRights(client(), rights);
  await eventually(() => publish(posts, "posts.events.v1"));
  await expect(publish(posts, "delivery.events.v1")).rejects.toThrow(/not authorized/i);
  await eventually(() => publish(delivery, "delivery.events.v1"));
  await eventually(() => publish(delivery, "engagement.events.v1"));
  await expect(publish(posts, "engagement.events.v1")).rejects.toThrow(/not authorized/i);
  await expect(publish(delivery, "posts.events.v1")).rejects.toThrow(/not authorized/i);

  const seen: string[] = [];
  await posts.subscribe({
    group: "posts",
    topic: "delivery.events.v1",
    handle: async (_tx, records) => void seen.push(...records.map(({ value }) => value)),
  });
  await eventually(() => expect(seen).toEqual(["delivery.events.v1"]));
  await withAdmin(openKafka(client({ KAFKA_USERNAME: "postrider-posts" })), async (admin) => {
    await expect(admin.fetchTopicOffsets("media.events.v1")).rejects.toThrow(/not authorized/i);
    // The Kafka broker does not even name the coordinator of a consumer group to a user without
    // rights on that group.
    await expect(
      admin.fetchOffsets({ groupId: "delivery.posts.events.v1.test", topics: ["posts.events.v1"] }),
    ).rejects.toThrow("Failed to find group coordinator");
    await admin.fetchOffsets({ groupId: "posts.delivery.events.v1.test" });
  });
});

test("the Kafka user of processes that only send webhooks reads what webhooks report, writes nothing, and uses no group of delivery's other processes", async () => {
  await ensureTopics(client(), TOPICS, 1);
  await grantKafkaRights(client(), listKafkaRights("postrider-"));
  const user = { KAFKA_USERNAME: "postrider-delivery-webhooks" };
  await using database = await createDatabase(4);
  const { sql } = database;
  await using delivery = openAs("delivery", sql);
  await using webhooks = openAs("delivery-webhooks", sql);
  const publish = (bus: Bus, topic: string) =>
    sql.begin((tx) => bus.publish(tx, topic, [{ key: "k", headers: {}, value: "webhooks" }]));
  await eventually(() => publish(delivery, "delivery.events.v1"));
  for (const topic of TOPICS)
    await expect(publish(webhooks, topic)).rejects.toThrow(/not authorized/i);

  const seen: string[] = [];
  await webhooks.subscribe({
    group: "delivery.webhooks",
    topic: "delivery.events.v1",
    handle: async (_tx, records) => void seen.push(...records.map(({ value }) => value)),
  });
  await eventually(() => expect(seen).toContain("webhooks"));
  await withAdmin(openKafka(client(user)), async (admin) => {
    await expect(
      admin.fetchOffsets({ groupId: "delivery.posts.events.v1.test", topics: ["posts.events.v1"] }),
    ).rejects.toThrow("Failed to find group coordinator");
  });
});

test.each(SERVICES)(
  "the Kafka user of the %s service writes only its own topics, sees no others but those that it consumes, misses none, and may neither create a topic nor change rights",
  async (service) => {
    await ensureTopics(client(), TOPICS, 1);
    const rights = listKafkaRights("postrider-");
    await grantKafkaRights(client(), rights);
    await using database = await createDatabase(4);
    const { sql } = database;
    const user = { KAFKA_USERNAME: `postrider-${service}` };
    const { brokers: kafkaBrokers, security: kafkaSecurity } = client(user);
    const place = { service, port: 0, databaseUrl: "", kafkaBrokers, kafkaSecurity };
    await using bus = await openBus({ ...place, ...OWN_DATA, bus: "kafka", sql, logger });
    const own = domainsOf(service).map((domain) => `${domain}.events.v1` as const);
    const write = (topic: string) =>
      sql.begin((tx) => bus.publish(tx, topic, [{ key: "k", headers: {}, value: topic }]));
    for (const topic of own) await eventually(() => write(topic));
    for (const topic of new Set(TOPICS).difference(new Set(own)))
      await expect(write(topic)).rejects.toThrow(/not authorized/i);
    const visible = new Set([...own, ...CONSUMED_TOPICS[service]]);
    expect((await listTopics(user)).toSorted()).toEqual([...visible].toSorted());
    await bus.check();
    await expect(ensureTopics(client(user), ["other.events.v1"], 1)).rejects.toThrow(
      "Topic creation errors",
    );
    await expect(grantKafkaRights(client(user), rights)).rejects.toThrow("authorization failed");
    expect(await listTopics({})).not.toContain("other.events.v1");
  },
);

test("the Kafka settings for TLS and authentication are optional", () => {
  expect(read({})).toEqual({ isEncrypted: false, caFile: undefined, login: undefined });
});

test.each([
  ["a user name without a password", { KAFKA_USERNAME: "postrider" }, "KAFKA_PASSWORD is required"],
  [
    "a password that would be sent unencrypted",
    { KAFKA_USERNAME: "postrider", KAFKA_PASSWORD: PASSWORD, KAFKA_SASL_MECHANISM: "plain" },
    "set KAFKA_TLS",
  ],
  [
    "an unknown authentication mechanism",
    { KAFKA_USERNAME: "a", KAFKA_PASSWORD: "b", KAFKA_SASL_MECHANISM: "md5" },
    "KAFKA_SASL_MECHANISM is not one of",
  ],
])("Kafka settings with %s are refused", (_, env, message) => {
  expect(() => read(env)).toThrow(ConfigError);
  expect(() => read(env)).toThrow(message);
});
