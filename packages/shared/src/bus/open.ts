import type { Bus } from "#src/bus.ts";
import type { KafkaSecurity } from "#src/bus/kafka-security.ts";
import { createPostgresBus } from "#src/bus/postgres.ts";
import type { Sql } from "#src/postgres.ts";
import type { Logger } from "#src/telemetry/logger.ts";

/** Every topic there is; each has one producer, the service it is named after. */
export const TOPICS = [
  "accounts.events.v1",
  "delivery.events.v1",
  "media.events.v1",
  "posts.events.v1",
] as const;

export type Topic = (typeof TOPICS)[number];

export interface OpenBusOptions {
  readonly bus: "postgres" | "kafka";
  /** Host and port of each broker to begin with; unused with Postgres. */
  readonly kafkaBrokers: readonly string[];
  readonly kafkaSecurity?: KafkaSecurity | undefined;
  readonly sql: Sql;
  /** The service's own connection string, direct rather than through a transaction pooler. */
  readonly databaseUrl: string;
  readonly service: string;
  readonly logger: Logger;
  /** The bus cannot go on and the process should exit with 1, so that a new one takes over. Default: do just that. */
  readonly onFatal?: (error: unknown) => void;
}

/** Opens the bus that the configuration names. The code of the other one is not even loaded. */
export async function openBus(options: OpenBusOptions): Promise<Bus> {
  const { sql, logger } = options;
  if (options.bus === "postgres") {
    return createPostgresBus({ sql, listenUrl: options.databaseUrl, logger });
  }
  const exit = (error: unknown): never => {
    logger.fatal({ err: error }, "the bus cannot go on in this process");
    process.exit(1);
  };
  const { createKafkaBus } = await import("#src/bus/kafka.ts");
  return createKafkaBus({
    brokers: options.kafkaBrokers,
    security: options.kafkaSecurity,
    sql,
    clientId: `postrider-${options.service}`,
    logger,
    onFatal: options.onFatal ?? exit,
  });
}
