import type { Bus } from "#src/bus.ts";
import type { Logger } from "#src/logger.ts";
import type { Sql } from "#src/postgres.ts";

export interface KafkaBusOptions {
  readonly brokers: readonly string[];
  readonly sql: Sql;
  readonly clientId: string;
  readonly logger: Logger;
  readonly onFatal: (error: unknown) => void;
}

/** The bus of production. */
export function createKafkaBus(_options: KafkaBusOptions): Bus {
  throw new Error("the Kafka adapter is being written");
}
