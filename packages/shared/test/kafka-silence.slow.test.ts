import { rmSync } from "node:fs";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createKafkaBus, ensureTopics } from "#src/bus/kafka.ts";
import { eventually } from "#src/testing/poll.ts";
import { startKafka, type EmbeddedKafka } from "../../local/src/kafka/kafka.ts";
import { makeTestFolder } from "../../local/src/stack/test-folder.ts";
import { createDatabase, logger, OWN_DATA } from "./test-service.ts";

const TOPIC = "silence";
let folder: string;
let kafka: EmbeddedKafka;

/** Connections to the broker. What is sent on one that is silent is acknowledged and lost. */
const isSilent = new Map<Socket, boolean>();
const proxy = createServer((client) => {
  const broker = connect(kafka.port, "127.0.0.1");
  isSilent.set(client, false);
  for (const [from, to] of [
    [client, broker],
    [broker, client],
  ] as const) {
    from.on("data", (data) => isSilent.get(client) === false && to.write(data));
    from.on("error", () => undefined);
    from.on("close", () => isSilent.get(client) === false && to.destroy());
  }
});

beforeAll(async () => {
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const { port } = proxy.address() as AddressInfo;
  folder = makeTestFolder("kafka-silence");
  const properties = () => ({ "advertised.listeners": `PLAINTEXT://127.0.0.1:${port}` });
  kafka = await startKafka({ dataDir: join(folder, "data"), properties });
  await ensureTopics({ brokers: [`127.0.0.1:${port}`], clientId: "test", logger }, [TOPIC], 1);
});

afterAll(async () => {
  proxy.close();
  for (const client of isSilent.keys()) client.destroy();
  await kafka[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

test("records are sent and consumed on new connections after those to the Kafka broker became silent without a sign", async () => {
  await using database = await createDatabase();
  const { port } = proxy.address() as AddressInfo;
  await using bus = createKafkaBus({
    brokers: [`127.0.0.1:${port}`],
    clientId: "test",
    logger,
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

  for (const client of isSilent.keys()) isSilent.set(client, true);
  await publish("after");
  await eventually(() => expect(seen).toContain("after"));
});
