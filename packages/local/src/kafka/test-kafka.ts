import { rmSync } from "node:fs";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { startKafka } from "#src/kafka/kafka.ts";
import { makeTestFolder } from "#src/stack/test-folder.ts";

declare module "vitest" {
  // oxlint-disable-next-line typescript/consistent-type-definitions -- only an interface can be merged
  interface ProvidedContext {
    /** `host:port` of the Kafka broker that all tests of the project share. */
    kafkaBrokers: string[];
  }
}

/**
 * vitest's globalSetup: starts one Kafka broker in a temporary folder and provides `kafkaBrokers`.
 * A missing Java or Maven fails the run, because a skipped Kafka suite would hide that Kafka is not tested.
 *
 * @returns The teardown, which stops the broker and removes the folder.
 */
export async function setup(project: Pick<TestProject, "provide">): Promise<() => Promise<void>> {
  const folder = makeTestFolder("kafka");
  const kafka = await startKafka({ dataDir: join(folder, "data") });
  project.provide("kafkaBrokers", [...kafka.brokers]);
  return async () => {
    await kafka[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  };
}
