import { afterAll, beforeAll } from "vitest";
import { startSystem, type BusKind, type System } from "../system.ts";

/** Posts of one test, half of which are accepted before something is killed. */
export const POSTS = 80;

/** How long a burst may take to settle. On Kafka a killed consumer's partitions are reassigned after a session timeout of 10 s. */
export const SETTLE_MS: Readonly<Record<BusKind, number>> = { postgres: 60_000, kafka: 90_000 };

/** The stack of a file whose tests kill and hold processes, and what they publish on. */
export interface FaultStack {
  readonly bus: BusKind;
  readonly system: System;
  /** Accounts on x and bluesky, whose posts can be read back. */
  readonly readable: readonly (readonly string[])[];
  /** The same and those on telegram, where a bot cannot read its channel back. */
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
