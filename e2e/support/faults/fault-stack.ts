import { afterAll, beforeAll } from "vitest";
import { startSystem, type BusKind, type System } from "../system.ts";

/** Number of posts that one test publishes; half of them are accepted before a process is killed. */
export const POSTS = 80;

/**
 * Time limit for all posts of a test to be published. On Kafka a killed consumer's partitions are reassigned after a
 * session timeout of 10 s.
 */
export const SETTLE_MS: Readonly<Record<BusKind, number>> = { postgres: 60_000, kafka: 90_000 };

/** The stack of a test file that kills processes or holds them down, and the accounts on which its tests publish. */
export interface FaultStack {
  readonly bus: BusKind;
  readonly system: System;
  /** Accounts on X and Bluesky, where a lost answer can be replaced by reading the post back. */
  readonly readable: readonly (readonly string[])[];
  /** Accounts on X, Bluesky and Telegram. On Telegram a bot cannot read its channel back. */
  readonly all: readonly (readonly string[])[];
}

/** Starts two replicas of each service on the bus before the tests of the file, and stops them afterwards. */
export function useFaultStack(bus: BusKind): () => FaultStack {
  let stack: FaultStack | undefined;
  beforeAll(async () => {
    const system = await startSystem(bus, { replicas: 2 });
    const readable = [await system.connect("x", 20), await system.connect("bluesky", 20)];
    stack = { bus, system, readable, all: [...readable, await system.connect("telegram", 20)] };
  });
  afterAll(() => stack?.system[Symbol.asyncDispose]());
  return () => {
    if (stack === undefined) throw new Error("the stack has not started");
    return stack;
  };
}
