import { TOPICS } from "@postrider/shared/bus/open";
import { provisionDatabase } from "@postrider/shared/postgres/provision";
import { createLogger } from "@postrider/shared/telemetry/logger";
import type { Command, Result } from "#src/command.ts";
import { loadBusSetup, loadDatabaseSetup } from "#src/config.ts";

async function provision(): Promise<Result> {
  const { ownerUrl, roles } = loadDatabaseSetup();
  await provisionDatabase(ownerUrl, roles);
  const services = roles.map(({ service }) => service);
  return { json: { services }, text: `roles and schemas exist: ${services.join(", ")}` };
}

async function createTopics(): Promise<Result> {
  const kafka = loadBusSetup();
  // Loaded on demand, because the Kafka client loads slowly and other commands do not need it.
  const { ensureTopics } = await import("@postrider/shared/bus/kafka");
  const logger = createLogger({ service: "cli", level: "silent" });
  await ensureTopics({ ...kafka, clientId: "postrider-cli", logger }, TOPICS);
  return { json: { topics: TOPICS }, text: `topics exist: ${TOPICS.join(", ")}` };
}

/** Commands that prepare a database and Kafka before the first start. They call no service. */
export const setupCommands: readonly Command[] = [
  {
    words: "database provision",
    synopsis: "",
    summary:
      "create a role and a schema for each service, or change the passwords; needs DATABASE_URL of the owner and ACCOUNTS_, POSTS_, MEDIA_ and DELIVERY_DATABASE_PASSWORD",
    options: {},
    run: provision,
  },
  {
    words: "topics create",
    synopsis: "",
    summary: "create the missing topics on KAFKA_BROKERS",
    options: {},
    run: createTopics,
  },
];
