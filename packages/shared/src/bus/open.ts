import type { Bus } from "#src/bus.ts";
import type { KafkaSecurity } from "#src/bus/kafka-security.ts";
import { createPostgresBus } from "#src/bus/postgres.ts";
import type { DeploymentGuard } from "#src/deployment/guard.ts";
import type { Sql } from "#src/postgres.ts";
import { instanceName } from "#src/process/instance.ts";
import type { Logger } from "#src/telemetry/logger.ts";

export interface OpenBusOptions {
  readonly bus: "postgres" | "kafka";
  /** `host:port` of some Kafka brokers; ignored with the Postgres bus. */
  readonly kafkaBrokers: readonly string[];
  readonly kafkaSecurity?: KafkaSecurity | undefined;
  readonly sql: Sql;
  /** Connection string of the service's database, without a transaction pooler. */
  readonly databaseUrl: string;
  readonly service: string;
  /** Port on which the process answers RPCs; 0 if the system chooses it. */
  readonly port: number;
  /** The value of `DEPLOYMENT_ID`. The names of Kafka consumer groups end with it. */
  readonly deploymentId: string;
  /** Says whether the data belongs to this deployment. A copy neither publishes to Kafka nor consumes from it. */
  readonly guard: Pick<DeploymentGuard, "isHeld">;
  readonly logger: Logger;
  /**
   * Called when the event bus cannot continue in this process. Default: log the error and exit with 1, so that the
   * process is restarted.
   */
  readonly onFatal?: (error: unknown) => void;
}

/** Opens the event bus that the settings choose, on Kafka or on Postgres. Only the code of this bus is loaded. */
export async function openBus(options: OpenBusOptions): Promise<Bus> {
  const { sql, logger } = options;
  if (options.bus === "postgres")
    return createPostgresBus({ sql, listenUrl: options.databaseUrl, logger });

  const exit = (error: unknown): never => {
    logger.fatal(
      { err: error },
      "a Kafka consumer cannot continue; the process exits so that it is restarted",
    );
    process.exit(1);
  };
  const { createKafkaBus } = await import("#src/bus/kafka.ts");
  return createKafkaBus({
    brokers: options.kafkaBrokers,
    security: options.kafkaSecurity,
    sql,
    clientId: `postrider-${options.service}`,
    instance: instanceName(options),
    deploymentId: options.deploymentId,
    guard: options.guard,
    logger,
    onFatal: options.onFatal ?? exit,
  });
}
