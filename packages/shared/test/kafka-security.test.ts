import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openKafka, withAdmin } from "#src/bus/kafka-client.ts";
import { readKafkaSecurity } from "#src/bus/kafka-security.ts";
import { ensureTopics } from "#src/bus/kafka.ts";
import { loadConfig } from "#src/config.ts";
import { ConfigError } from "#src/config/config-error.ts";
import { selfSignedCertificate } from "#src/testing/certificate.ts";
import { startKafka, type EmbeddedKafka } from "../../local/src/kafka.ts";
import { makeTestFolder } from "../../local/src/test-folder.ts";
import { logger } from "./test-service.ts";

const PASSWORD = "correct horse";

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
      "listener.name.sasl_ssl.plain.sasl.jaas.config": `org.apache.kafka.common.security.plain.PlainLoginModule required username="broker" password="broker" user_broker="broker" user_postrider="${PASSWORD}";`,
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
