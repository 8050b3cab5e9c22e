import { startLoop, type Loop } from "@postrider/shared/process/loop";
import type { Logger } from "@postrider/shared/telemetry/logger";

interface Count {
  readonly logger: Logger;
  readonly everyMs?: number;
  /** In the plural, for the log. */
  readonly what: string;
  readonly measure: () => Promise<void>;
}

/** Sets gauges for the whole installation: every process reports the same numbers. */
export function startCount({ logger, everyMs = 15_000, what, measure }: Count): Loop {
  return startLoop({
    idleMs: everyMs,
    work: async () => {
      await measure();
      return false;
    },
    onError: (error) =>
      logger.debug(
        { err: error },
        `${what} could not be counted; their gauges at /metrics keep the last values`,
      ),
  });
}
