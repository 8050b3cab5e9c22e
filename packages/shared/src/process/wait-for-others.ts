import { setTimeout as sleep } from "node:timers/promises";

const POLL_MS = 2;

/**
 * Lets long work begin in a moment in which the process does nothing else, so that the short
 * requests in work do not wait for it. Under load there is no such moment; the work begins after
 * `maxMs` at the latest. Returns the time that was waited, in milliseconds.
 */
export async function waitForOthers(countOthers: () => number, maxMs: number): Promise<number> {
  let waited = 0;
  for (; waited < maxMs && countOthers() > 0; waited += POLL_MS) await sleep(POLL_MS);
  return waited;
}
