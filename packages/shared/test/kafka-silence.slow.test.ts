import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createKafkaBus, ensureTopics } from "#src/bus/kafka.ts";
import { eventually } from "#src/testing/poll.ts";
import { startKafka } from "../../local/src/kafka/kafka.ts";
import { findStablePorts } from "../../local/src/processes/free-port.ts";
import { makeTestFolder } from "../../local/src/stack/test-folder.ts";
import { openSilenceableProxy } from "./tcp-proxy.ts";
import { createDatabase, logger, OWN_DATA } from "./test-service.ts";

const TOPIC = "silence";

const client = () => ({ brokers: [new URL(proxy.url).host], clientId: "test", logger });

const [port = 0] = await findStablePorts(1);
const proxy = await openSilenceableProxy(`kafka://127.0.0.1:${port}`);
const folder = makeTestFolder("kafka-silence");
const properties = () => ({ "advertised.listeners": `PLAINTEXT://${client().brokers[0]}` });
const kafka = await startKafka({ dataDir: join(folder, "data"), port, properties });
await ensureTopics(client(), [TOPIC], 1);

afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await kafka[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

test("records are sent and consumed on new connections after those to the Kafka broker became silent without a sign", async () => {
  await using database = await createDatabase();
  await using bus = createKafkaBus({
    ...client(),
    ...OWN_DATA,
    sql: database.sql,
    onFatal: () => undefined,
  });
  const seen: string[] = [];
  const publish = (key: string) =>
    database.sql.begin((tx) => bus.publish(tx, TOPIC, [{ key, headers: {}, value: "{}" }]));
  await bus.subscribe({
    group: "g",
    topic: TOPIC,
    handle: async (_tx, records) => void seen.push(...records.map(({ key }) => key)),
  });
  await publish("before");
  await eventually(() => expect(seen).toContain("before"));

  proxy.silence();
  await publish("after");
  await eventually(() => expect(seen).toContain("after"));
});
