import type { SendGuard } from "@postrider/platforms/http/send-once";

/**
 * The two clocks of a process, in milliseconds. The monotonic clock stops while the machine is suspended; an operator can
 * set the wall clock.
 */
export interface Clocks {
  monotonic(): number;
  wall(): number;
}

/**
 * Maximum time in milliseconds between a worker's request to record that a call begins and the first byte of the call.
 */
const MAX_AGE_MS = 5_000;
/**
 * Maximum time between a worker's request to record that a publishing call begins and the first byte of the call, as a
 * fraction of the call's maximum duration. `MAX_AGE_MS` applies instead if it is shorter.
 */
const MAX_AGE_PART = 1 / 12;

/**
 * Reads both clocks and returns the guard that says whether the publishing call may still be sent. The worker creates
 * the guard before the database sets `call_until`. Therefore a call that respects `timeoutMs` ends before `call_until`.
 */
export function createSendGuard(clocks: Clocks, visibleCallMs: number): SendGuard {
  const monotonic = clocks.monotonic();
  const wall = clocks.wall();
  const maxAgeMs = Math.min(MAX_AGE_MS, visibleCallMs * MAX_AGE_PART);
  return {
    mayStillSend: () =>
      clocks.monotonic() - monotonic < maxAgeMs && Math.abs(clocks.wall() - wall) < maxAgeMs,
    get timeoutMs() {
      return Math.max(1, Math.floor(visibleCallMs - (clocks.monotonic() - monotonic)));
    },
  };
}
