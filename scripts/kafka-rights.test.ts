import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CONSUMED_TOPICS } from "../packages/shared/src/bus/kafka-rights.ts";
import { PRODUCERS, TOPICS } from "../packages/shared/src/bus/topics.ts";

const SERVICES = join(import.meta.dirname, "../services");

/**
 * Lists the Kafka topics that the code of a service consumes: the topics of other services that it
 * names, and its own topics that a file of its consumers names.
 */
function listNamedTopics(service: string): readonly string[] {
  const folder = service === "delivery-webhooks" ? "delivery/src/webhooks" : `${service}/src`;
  const topics = globSync(`${folder}/**/*.ts`, { cwd: SERVICES }).flatMap((file) => {
    const code = readFileSync(join(SERVICES, file), "utf8");
    const named = [...code.matchAll(/"([a-z]+\.events\.v1)"/g)].map(([, topic = ""]) => topic);
    const isConsumer = file.includes("/consumers/");
    const producers: Readonly<Record<string, string>> = PRODUCERS;
    return named.filter((topic) => isConsumer || producers[topic.split(".")[0] ?? ""] !== service);
  });
  return [...new Set(topics)].toSorted();
}

test.each(Object.entries(CONSUMED_TOPICS))(
  "the rights of the Kafka user %s let it read exactly the topics that its code consumes",
  (service, topics) => {
    expect(listNamedTopics(service)).toEqual(topics);
  },
);

test("each folder of proto/postrider that defines events has one Kafka topic, and no other Kafka topic exists", () => {
  const folder = join(import.meta.dirname, "../proto/postrider");
  const domains = globSync("*/v1/*_events.proto", { cwd: folder }).map((file) =>
    file.slice(0, file.indexOf("/")),
  );
  expect(domains.map((domain) => `${domain}.events.v1`).toSorted()).toEqual(TOPICS);
});
