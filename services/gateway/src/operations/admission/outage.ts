import type { Logger } from "@postrider/shared/telemetry/logger";

/** How long the gateway makes no call to the accounts service after a failed call. */
const PAUSE_MS = 100;
/**
 * Time after the start of a call that probes the accounts service. If that call has not ended by then, the next call
 * may probe as well.
 */
const PROBE_MS = 1_000;

export interface Outage {
  /**
   * Whether the accounts service may be called now: during an outage, one call at a time probes whether it has ended.
   */
  mayCall(now: number): boolean;
  begin(error: unknown, now: number): void;
  end(): void;
}

/** Remembers that the accounts service does not answer, so that not every request waits for a call that fails. */
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
        logger.warn(
          { err },
          "the accounts service does not answer; until it does, the gateway accepts or refuses requests by the last answers about their API keys",
        );
      pausedUntil = now + PAUSE_MS;
    },
    end: () => {
      if (pausedUntil !== undefined) logger.info("the accounts service answers again");
      pausedUntil = undefined;
    },
  };
}
