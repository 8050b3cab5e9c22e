import type { Bus } from "#src/bus.ts";
import type { KafkaSecurity } from "#src/bus/kafka-security.ts";
import { createPostgresBus } from "#src/bus/postgres.ts";
import type { DeploymentGuard } from "#src/deployment/guard.ts";
import type { Sql } from "#src/postgres.ts";
import { instanceName } from "#src/process/instance.ts";
import { stopAndFail } from "#src/process/lifecycle.ts";
import type { Logger } from "#src/telemetry/logger.ts";

export interface OpenBusOptions {
  readonly bus: "postgres" | "kafka";
  readonly kafkaBrokers: readonly string[];
  readonly kafkaSecurity?: KafkaSecurity | undefined;
  readonly sql: Sql;
  readonly databaseUrl: string;
  readonly service: string;
  readonly port: number;
  /** See `createKafkaBus`. */
  readonly deploymentId: string;
  readonly guard: Pick<DeploymentGuard, "isHeld">;
  readonly logger: Logger;
  /** Default: log the error, stop and exit with 1, so that the process is restarted. */
  readonly onFatal?: (error: unknown) => void;
}

/** Only the code of the chosen bus is loaded. */
export async function openBus(options: OpenBusOptions): Promise<Bus> {
  const { sql, logger } = options;
  if (options.bus === "postgres")
    return createPostgresBus({ sql, listenUrl: options.databaseUrl, logger });

  const exit = (error: unknown): void => {
    logger.fatal(
      { err: error },
      "a Kafka consumer cannot continue; the process stops and exits so that it is restarted",
    );
    stopAndFail();
  };
  const { createKafkaBus } = await import("#src/bus/kafka.ts");
  const { topicsOf } = await import("#src/bus/kafka-rights.ts");
  return createKafkaBus({
    brokers: options.kafkaBrokers,
    security: options.kafkaSecurity,
    sql,
    clientId: `postrider-${options.service}`,
    instance: instanceName(options),
    deploymentId: options.deploymentId,
    guard: options.guard,
    topics: topicsOf(options.service),
    logger,
    onFatal: options.onFatal ?? exit,
  });
}
