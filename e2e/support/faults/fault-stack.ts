import { afterAll, beforeAll } from "vitest";
import { startSystem, type BusKind, type System } from "../system.ts";

/** Number of posts that one test publishes; the test kills a process when half of them are accepted. */
export const POSTS = 80;

/**
 * Maximum time until all posts of a test are published. Kafka reassigns the partitions of a killed consumer after a
 * session timeout of 6 s.
 */
export const SETTLE_MS: Readonly<Record<BusKind, number>> = { postgres: 60_000, kafka: 90_000 };

/**
 * The running system of a test file that kills processes or keeps them stopped, and the accounts on which its tests
 * publish.
 */
export interface FaultStack {
  readonly bus: BusKind;
  readonly system: System;
  /** Accounts on X and Bluesky. When an answer of these platforms is lost, the post can be read back. */
  readonly readable: readonly (readonly string[])[];
  /** Accounts on X, Bluesky and Telegram. On Telegram, a bot cannot read back what it sent to a channel. */
  readonly all: readonly (readonly string[])[];
}

/** Starts the system with two processes of each service before the tests of the file, and stops it afterwards. */
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
