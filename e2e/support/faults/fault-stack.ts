import { afterAll, afterEach, beforeAll } from "vitest";
import { startReceiver, type Receiver } from "../observers/receiver.ts";
import { startSystem, type BusKind, type System } from "../system/system.ts";

/**
 * Number of posts that one test publishes; the test kills a process when half of them are accepted.
 */
export const POSTS = 12;
const ACCOUNTS = 12;
/**
 * Time limit of a publishing call in seconds. It is longer than the simulated platforms take to
 * answer on a loaded machine, because the outcome of a Telegram message without an answer within
 * the limit stays unknown.
 */
export const VISIBLE_CALL_SECONDS = 5;

/**
 * How long the simulated platforms take to answer while a test waits until publishing calls are in
 * progress.
 */
export const SLOW_MS = 1_000;

/**
 * Maximum time until all posts of a test are published. Kafka reassigns the partitions of a killed
 * consumer after a session timeout of 6 s.
 */
export const SETTLE_MS: Readonly<Record<BusKind, number>> = { postgres: 60_000, kafka: 90_000 };

/**
 * The running system of a test file that kills processes or keeps them stopped, and the accounts on
 * which its tests publish.
 */
export interface FaultStack {
  readonly bus: BusKind;
  readonly system: System;
  /**
   * Accounts on X and Bluesky. When an answer of these platforms is lost, Postrider can read the
   * post back.
   */
  readonly readable: readonly (readonly string[])[];
  /**
   * Accounts on X, Bluesky and Telegram. On Telegram, a bot cannot read back what it sent to a
   * channel.
   */
  readonly all: readonly (readonly string[])[];
  /** The program to which the system may send webhooks. */
  readonly receiver: Receiver;
}

/**
 * Starts the system with two processes of each service before the tests of the file, and stops it
 * afterwards.
 */
export function useFaultStack(bus: BusKind): () => FaultStack {
  let stack: FaultStack | undefined;
  beforeAll(async () => {
    const receiver = await startReceiver();
    const env = {
      OUTBOUND_ALLOW: receiver.address,
      VISIBLE_CALL_SECONDS: String(VISIBLE_CALL_SECONDS),
    };
    const system = await startSystem(bus, { replicas: 2, env });
    await system.simulator.acceptRepeatedPosts();
    const [x, bluesky, telegram] = await Promise.all(
      ["x", "bluesky", "telegram"].map((platform) => system.connect(platform, ACCOUNTS)),
    );
    const readable = [x ?? [], bluesky ?? []];
    stack = { bus, system, readable, all: [...readable, telegram ?? []], receiver };
  });
  afterEach(() => stack?.system.releaseAll());
  afterAll(async () => {
    await stack?.system[Symbol.asyncDispose]();
    await stack?.receiver[Symbol.asyncDispose]();
  });
  return () => {
    if (stack === undefined) throw new Error("the stack has not started");
    return stack;
  };
}

export async function countTasks({ sql }: System, statuses: readonly string[]): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count
    from delivery.publish_tasks
    where status in ${sql(statuses)}`;
  return row?.count ?? -1;
}

/** Number of publishing calls in progress. */
export const countCalls = (system: System): Promise<number> => countTasks(system, ["calling"]);

/** Repeats a step until `work` has ended. `step` gets the number of earlier repetitions. */
export async function repeatDuring(
  work: Promise<unknown>,
  step: (index: number) => Promise<void>,
): Promise<void> {
  const state = { isWorking: true };
  const ended = work.finally(() => {
    state.isWorking = false;
  });
  for (let index = 0; state.isWorking; index += 1) await step(index);
  await ended;
}
