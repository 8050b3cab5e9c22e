import type { Logger } from "@postrider/shared/telemetry/logger";

/** How long accounts is not called after a call that failed. */
const PAUSE_MS = 100;
/** How long a probing call may take before the next one is sent. */
const PROBE_MS = 1_000;

export interface Outage {
  /** Whether accounts may be called now: during an outage, one call at a time probes whether it has ended. */
  mayCall(now: number): boolean;
  begin(error: unknown, now: number): void;
  end(): void;
}

/** Remembers that accounts does not answer, so that requests do not each wait for a call to fail. */
export function createOutage(logger: Logger): Outage {
  let pausedUntil: number | undefined;
  return {
    mayCall: (now) => {
      if (pausedUntil === undefined) return true;
      if (now < pausedUntil) return false;
      pausedUntil = now + PROBE_MS;
      return true;
    },
    begin: (err, now) => {
      if (pausedUntil === undefined)
        logger.warn({ err }, "accounts does not answer; requests are admitted from memory");
      pausedUntil = now + PAUSE_MS;
    },
    end: () => {
      if (pausedUntil !== undefined) logger.info("accounts answers again");
      pausedUntil = undefined;
    },
  };
}
