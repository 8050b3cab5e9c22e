import { startLoop, type Loop } from "@postrider/shared/process/loop";
import type { Logger } from "@postrider/shared/telemetry/logger";
import type { LiveChecks } from "#src/publishing/operations/live-checks.ts";

const RENEWALS_PER_LEASE = 3;

export function startKeepLiveChecks(
  liveChecks: Pick<LiveChecks, "pass">,
  { leaseMs, logger }: { readonly leaseMs: number; readonly logger: Logger },
): Loop {
  return startLoop({
    idleMs: leaseMs / RENEWALS_PER_LEASE,
    work: () => liveChecks.pass(),
    onError: (error) =>
      logger.warn(
        { err: error, job: "keep-live-checks" },
        "the leases of live checks could not be renewed, or interrupted live checks could not be ended; the job keep-live-checks tries again",
      ),
  });
}
