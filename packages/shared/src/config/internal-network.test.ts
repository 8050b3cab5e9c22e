import { expect, test } from "vitest";
import { readKafkaSecurity } from "#src/bus/kafka-security.ts";
import { ConfigError, loadConfig } from "#src/config.ts";
import { readPeerUrl } from "#src/config/addresses.ts";
import { readTracingConfig } from "#src/tracing/start.ts";
import { readInternalNetwork } from "./internal-network.ts";
import { readEnvironment } from "./production.ts";

function faultsOf(env: Readonly<Record<string, string>>): readonly string[] {
  try {
    loadConfig(env, (read) => {
      readEnvironment(read);
      readInternalNetwork(read);
      readPeerUrl(read, "posts");
      read.about("Another peer.", { isPeer: true }).url("ENGAGEMENT_URL", "http://127.0.0.1:1");
      readTracingConfig(read);
      readKafkaSecurity(read);
      return read.list("KAFKA_BROKERS");
    });
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}

const REMOTE = {
  POSTS_URL: "http://posts:8082",
  ENGAGEMENT_URL: "http://delivery-engagement:8084",
  OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector.example:4318",
  OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20t",
  KAFKA_BROKERS: "kafka-0.example:9092,127.0.0.1:1",
};

test("a process in production does not send RPCs, events or secret headers without TLS to another machine", () => {
  expect(faultsOf(REMOTE)).toEqual([
    expect.stringMatching(/^POSTS_URL must begin with https:.* INTERNAL_NETWORK=trusted/),
    expect.stringMatching(/^ENGAGEMENT_URL must begin with https:.* INTERNAL_NETWORK=trusted/),
    expect.stringMatching(/^OTEL_EXPORTER_OTLP_ENDPOINT must begin with https:.* INTERNAL_NETWORK/),
    expect.stringMatching(/^KAFKA_TLS must be true.* INTERNAL_NETWORK=trusted/),
  ]);
});

test.each([
  ["TLS is used", { POSTS_URL: "https://posts:8082", KAFKA_BROKERS: "k:9092", KAFKA_TLS: "true" }],
  ["spans are sent without headers", { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" }],
  ["the operator trusts the network", { ...REMOTE, INTERNAL_NETWORK: "trusted" }],
  ["everything runs on one machine", { POSTS_URL: "http://[::1]:1", KAFKA_BROKERS: "localhost:1" }],
  ["it is a trial", { ...REMOTE, POSTRIDER_ENV: "development" }],
])("a process starts when %s", (_, env) => {
  expect(faultsOf(env)).toEqual([]);
});
