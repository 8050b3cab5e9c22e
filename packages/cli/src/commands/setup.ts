import { TOPICS } from "@postrider/shared/bus/open";
import { provisionDatabase } from "@postrider/shared/postgres/provision";
import { createLogger } from "@postrider/shared/telemetry/logger";
import type { Command, Result } from "#src/command.ts";
import { loadBusSetup, loadDatabaseSetup } from "#src/config.ts";

async function provision(): Promise<Result> {
  const { ownerUrl, roles } = loadDatabaseSetup();
  await provisionDatabase(ownerUrl, roles);
  const services = roles.map(({ service }) => service);
  return { json: { services }, text: `roles and schemas are there: ${services.join(", ")}` };
}

async function createTopics(): Promise<Result> {
  const kafka = loadBusSetup();
  // The Kafka client takes a while to load, and no other command needs it.
  const { ensureTopics } = await import("@postrider/shared/bus/kafka");
  const logger = createLogger({ service: "cli", level: "silent" });
  await ensureTopics({ ...kafka, clientId: "postrider-cli", logger }, TOPICS);
  return { json: { topics: TOPICS }, text: `topics are there: ${TOPICS.join(", ")}` };
}

/** Commands that make a database and a Kafka ready for the services. They ask no service. */
export const setupCommands: readonly Command[] = [
  {
    words: "database provision",
    synopsis: "",
    summary:
      "make a role and a schema for each service, or change the passwords: DATABASE_URL is the owner's, ACCOUNTS_, POSTS_, MEDIA_ and DELIVERY_DATABASE_PASSWORD are the roles'",
    options: {},
    run: provision,
  },
  {
    words: "topics create",
    synopsis: "",
    summary: "make the topics that are missing on KAFKA_BROKERS",
    options: {},
    run: createTopics,
  },
];
