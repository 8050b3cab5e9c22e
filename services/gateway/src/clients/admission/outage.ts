import type { Logger } from "@postrider/shared/telemetry/logger";

/** After a call that failed, accounts is left alone for so long; then one request tries again. */
const PAUSE_MS = 100;
/** How long that one may take before the next one tries. */
const PROBE_MS = 1_000;

export interface Outage {
  /** Whether this request may ask accounts: in an outage one at a time finds out whether it is over. */
  mayAsk(now: number): boolean;
  begin(error: unknown, now: number): void;
  end(): void;
}

/** Remembers that accounts does not answer, so that requests need not wait for every call to fail. */
export function createOutage(logger: Logger): Outage {
  let pausedUntil: number | undefined;
  return {
    mayAsk: (now) => {
      if (pausedUntil === undefined) return true;
      if (now < pausedUntil) return false;
      pausedUntil = now + PROBE_MS;
      return true;
    },
    begin: (err, now) => {
      if (pausedUntil === undefined) logger.warn({ err }, "accounts does not answer admission");
      pausedUntil = now + PAUSE_MS;
    },
    end: () => {
      if (pausedUntil !== undefined) logger.info("accounts answers admission again");
      pausedUntil = undefined;
    },
  };
}
