import type { SendGuard } from "@postrider/platforms/http/send-once";

/** The two clocks of a process, milliseconds. A stopped machine holds the first one still, an operator can set the second. */
export interface Clocks {
  monotonic(): number;
  wall(): number;
}

const MAX_AGE_MS = 5_000;
/** The part of the call's time that may pass between asking for the mark and the first byte. */
const MAX_AGE_PART = 1 / 12;

/**
 * Reads both clocks now, which must be before the mark is asked for, and returns the guard of the visible call. Because
 * the mark's `call_until` counts from a later moment, a call that respects `timeoutMs` ends before it.
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
