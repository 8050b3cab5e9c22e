import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { type EmbeddedKafka, startKafka } from "#src/kafka/kafka.ts";
import { identifyProcess } from "#src/processes/process-identity.ts";

let kafka: EmbeddedKafka;

const folder = mkdtempSync(join(tmpdir(), "postrider-kafka-test-"));
kafka = await startKafka({ dataDir: join(folder, "data") });

afterAll(async () => {
  await kafka[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

function connects(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port }, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

test("the Kafka broker listens on the loopback address and on the port that it reports", async () => {
  expect(kafka.brokers).toEqual([`127.0.0.1:${kafka.port}`]);
  expect(await connects(kafka.port)).toBe(true);
});

test("a killed Kafka broker starts again on the same port and folder, and stopping it leaves no process behind", async () => {
  process.kill(kafka.pid, "SIGKILL");
  await kafka.exited;

  kafka = await startKafka({ dataDir: join(folder, "data"), port: kafka.port });
  expect(await connects(kafka.port)).toBe(true);

  await kafka[Symbol.asyncDispose]();
  expect(await connects(kafka.port)).toBe(false);
  expect(identifyProcess(kafka.pid)).toBeUndefined();
});
