import { prepareTopics } from "#src/kafka/kafka-topics.ts";
import type { RunningPart } from "#src/processes/running-part.ts";
import type { SupervisedPart } from "#src/processes/supervised-part.ts";
import { prepareDatabase } from "#src/stack/database.ts";
import { waitUntilReady } from "#src/stack/readiness.ts";
import type { StackContext } from "#src/stack/stack-context.ts";
import { kafkaPlan, logFileOf, postgresPlan, simulatorPlan } from "#src/stack/stack-plan.ts";

/**
 * The database of the local stack. `part` is its Postgres process, absent if `DATABASE_URL` names an external database.
 */
export interface StackDatabase {
  readonly url: string;
  readonly part?: SupervisedPart;
}

/**
 * Starts Postgres or uses the one that `DATABASE_URL` names, and creates the database roles and schemas of the
 * services.
 */
export async function startDatabase(context: StackContext): Promise<StackDatabase> {
  const { layout, settings, secrets, ports } = context;
  const external = settings.DATABASE_URL;
  if (external !== undefined && external !== "") {
    await prepareDatabase(external, secrets);
    return { url: external };
  }
  const part = await startPart(context, postgresPlan(layout, secrets, ports.postgres));
  const url = `postgres://postgres:${secrets.ownerPassword}@127.0.0.1:${ports.postgres}/postgres`;
  await prepareDatabase(url, secrets);
  return { url, part };
}

/**
 * The Kafka brokers of the local stack: none when the event bus is in Postgres. `part` is the broker's process, absent
 * for external brokers.
 */
export interface StackBroker {
  readonly brokers: readonly string[];
  readonly part?: SupervisedPart;
}

/** Starts Kafka if the options ask for it, or uses the brokers that `KAFKA_BROKERS` names, and creates the topics. */
export async function startBroker(context: StackContext, wanted: boolean): Promise<StackBroker> {
  const { layout, settings, ports } = context;
  const external = (settings.KAFKA_BROKERS ?? "").split(",").filter((each) => each !== "");
  if (external.length > 0) {
    await prepareTopics(external);
    return { brokers: external };
  }
  if (!wanted) return { brokers: [] };

  const part = await startPart(context, kafkaPlan(layout, settings, ports.kafka));
  const brokers = [`127.0.0.1:${ports.kafka}`];
  await prepareTopics(brokers);
  return { brokers, part };
}

/** Starts the simulated platforms. */
export async function startSimulator(context: StackContext): Promise<SupervisedPart> {
  const { layout, settings, ports } = context;
  const part = await startPart(context, simulatorPlan(layout, settings, ports.simulator));
  await waitUntilReady(part, {
    url: `http://127.0.0.1:${ports.simulator}/_control/faults`,
    logFile: logFileOf(layout, "simulator"),
    signal: context.signal,
  });
  return part;
}

async function startPart(
  context: StackContext,
  plan: { name: string; holdName: string; start: () => Promise<RunningPart> },
): Promise<SupervisedPart> {
  const part = context.started.use(context.parts.add(plan));
  await part.start();
  return part;
}
