import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CONSUMED_TOPICS } from "../packages/shared/src/bus/kafka-rights.ts";

const SERVICES = join(import.meta.dirname, "../services");

/** Lists the Kafka topics of other services that the code of a service names. */
function listNamedTopics(service: string): readonly string[] {
  const files = globSync(`${service}/src/**/*.ts`, { cwd: SERVICES });
  const code = files.map((file) => readFileSync(join(SERVICES, file), "utf8")).join("\n");
  const topics = [...code.matchAll(/"([a-z]+\.events\.v1)"/g)].map(([, topic = ""]) => topic);
  return [...new Set(topics)].filter((topic) => !topic.startsWith(`${service}.`)).toSorted();
}

test.each(Object.entries(CONSUMED_TOPICS))(
  "the Kafka rights of the %s service let it read exactly the topics that its code consumes",
  (service, topics) => {
    expect(listNamedTopics(service)).toEqual(topics);
  },
);
