import { rmSync } from "node:fs";
import { join } from "node:path";
import { startKafka } from "../../local/src/kafka/kafka.ts";
import { makeTestFolder } from "../../local/src/stack/test-folder.ts";

export interface TestKafka extends AsyncDisposable {
  readonly brokers: readonly string[];
}

/** Starts a Kafka broker in a temporary folder, which disposing removes. */
export async function startTestKafka(): Promise<TestKafka> {
  const folder = makeTestFolder("kafka");
  const kafka = await startKafka({ dataDir: join(folder, "data") });
  return {
    brokers: kafka.brokers,
    [Symbol.asyncDispose]: async () => {
      await kafka[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
