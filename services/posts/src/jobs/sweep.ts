import { startLoop } from "@postrider/shared/process/loop";
import { FIRST_SILENCE, takeSilentDeletions, takeSilentTargets } from "#src/db/silent-targets.ts";
import { askDelivery, type AskDeps } from "#src/jobs/ask-delivery.ts";

/** Maximum number of targets about which one RPC asks the delivery service. */
const PAGE_TARGETS = 500;

type SweepDeps = AskDeps & {
  readonly sweepAfterMs: number;
};

/**
 * Answers are applied like events. Targets that the delivery service does not know are requested
 * again, so that no post depends on the arrival of a single event.
 */
export async function sweepTargets(deps: SweepDeps): Promise<number> {
  const { sql, sweepAfterMs: silentMs } = deps;
  const page = { silentMs, limit: PAGE_TARGETS };
  let count = 0;
  // Each page of silent targets starts where the previous page ended. A query for all silent
  // targets would read the old index entries of the targets about which the sweep has just asked
  // the delivery service.
  let targetsSince = FIRST_SILENCE;
  let deletionsSince = FIRST_SILENCE;
  for (;;) {
    const [targets, deletions] = await Promise.all([
      takeSilentTargets(sql, { ...page, since: targetsSince }),
      takeSilentDeletions(sql, { ...page, since: deletionsSince }),
    ]);
    await askDelivery(deps, targets, deletions);
    count += targets.length + deletions.length;
    if (targets.length < PAGE_TARGETS && deletions.length < PAGE_TARGETS) return count;
    targetsSince = targets.at(-1)?.silentSince ?? targetsSince;
    deletionsSince = deletions.at(-1)?.silentSince ?? deletionsSince;
  }
}

/** Several replicas ask about different targets. */
export function startSweep(options: SweepDeps & { readonly everyMs: number }): AsyncDisposable {
  const { logger } = options;
  return startLoop({
    idleMs: options.everyMs,
    work: async () => {
      const count = await sweepTargets(options);
      if (count > 0)
        logger.info(
          { job: "sweep", count },
          "the sweep of the posts service asked the delivery service about targets without a recent update",
        );
      return false;
    },
    onError: (error) =>
      logger.warn(
        { err: error, job: "sweep" },
        "the delivery service could not be asked about targets without a recent update; the next sweep tries again",
      ),
  });
}
