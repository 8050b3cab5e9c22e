import { TOPICS } from "@postrider/shared/bus/topics";
import { provisionDatabase } from "@postrider/shared/postgres/provision";
import { untilItAnswers } from "@postrider/shared/postgres/until-it-answers";
import { createLogger } from "@postrider/shared/telemetry/logger";
import { findText, type Arguments, type Command, type Result } from "#src/command.ts";
import { loadBusSetup, loadDatabaseSetup } from "#src/config.ts";
import type { Services } from "#src/services.ts";
import { formatTable } from "#src/table.ts";

const USER_PREFIX = "postrider-";

/** How long a Postgres that was started at the same time, as by podman-compose, may take. */
const DATABASE_START_MS = 60_000;

async function provision(): Promise<Result> {
  const { ownerUrl, roles } = loadDatabaseSetup();
  await untilItAnswers(async () => await provisionDatabase(ownerUrl, roles), {
    signal: AbortSignal.timeout(DATABASE_START_MS),
  });
  const services = roles.map(({ service }) => service);
  return { json: { services }, text: `roles and schemas exist: ${services.join(", ")}` };
}

async function createTopics(): Promise<Result> {
  const kafka = loadBusSetup();
  // This module is loaded only when it is needed, because the Kafka client loads slowly and other
  // commands do not use it.
  const { ensureTopics } = await import("@postrider/shared/bus/kafka");
  const logger = createLogger({ service: "cli", level: "silent" });
  await ensureTopics({ ...kafka, clientId: "postrider-cli", logger }, TOPICS);
  return { json: { topics: TOPICS }, text: `topics exist: ${TOPICS.join(", ")}` };
}

/**
 * Creates the access control lists of the services' Kafka users, or only lists them for another
 * tool.
 */
async function grantTopics(_services: Services, args: Arguments): Promise<Result> {
  const prefix = findText(args, "prefix") ?? USER_PREFIX;
  const { grantKafkaRights, listKafkaRights } = await import("@postrider/shared/bus/kafka-rights");
  const rights = listKafkaRights(prefix);
  if (args.values["dry-run"] !== true) {
    const kafka = loadBusSetup();
    const logger = createLogger({ service: "cli", level: "silent" });
    await grantKafkaRights({ ...kafka, clientId: "postrider-cli", logger }, rights);
  }
  const rows = rights.map(({ principal, operation, resource, pattern, name }) => [
    principal,
    operation,
    resource,
    pattern,
    name,
  ]);
  const text = formatTable(["principal", "operation", "resource", "pattern", "name"], rows, "");
  return { json: { rights }, text };
}

/** Commands that prepare a database and Kafka before the first start. They call no service. */
export const setupCommands: readonly Command[] = [
  {
    words: "database provision",
    synopsis: "",
    summary:
      "create a schema, a runtime role and a migration role for each service, or change the passwords; needs DATABASE_URL of the owner, and ACCOUNTS_, POSTS_, MEDIA_ and DELIVERY_ each with DATABASE_PASSWORD and MIGRATION_PASSWORD; with DELIVERY_WEBHOOKS_DATABASE_PASSWORD also a role for processes that only send webhooks",
    run: provision,
  },
  {
    words: "topics create",
    synopsis: "",
    summary: "create the missing topics on KAFKA_BROKERS",
    run: createTopics,
  },
  {
    words: "topics grant",
    synopsis: "[--prefix PREFIX] [--dry-run]",
    summary:
      "let the Kafka user of each service (postrider-posts, …; --prefix for other names) and that of processes that only send webhooks (postrider-delivery-webhooks) write only its own topics and read only what it consumes; --dry-run lists the rights",
    run: grantTopics,
  },
];
