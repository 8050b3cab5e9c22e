import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CONSUMED_TOPICS } from "../packages/shared/src/bus/kafka-rights.ts";

const SERVICES = join(import.meta.dirname, "../services");

/**
 * Lists the Kafka topics that the code of a service consumes: the topics of other services that it names, and its own topic if a
 * file of its consumers names it.
 */
function listNamedTopics(service: string): readonly string[] {
  const topics = globSync(`${service}/src/**/*.ts`, { cwd: SERVICES }).flatMap((file) => {
    const code = readFileSync(join(SERVICES, file), "utf8");
    const named = [...code.matchAll(/"([a-z]+\.events\.v1)"/g)].map(([, topic = ""]) => topic);
    const isConsumer = file.includes("/consumers/");
    return named.filter((topic) => isConsumer || !topic.startsWith(`${service}.`));
  });
  return [...new Set(topics)].toSorted();
}

test.each(Object.entries(CONSUMED_TOPICS))(
  "the Kafka rights of the %s service let it read exactly the topics that its code consumes",
  (service, topics) => {
    expect(listNamedTopics(service)).toEqual(topics);
  },
);
