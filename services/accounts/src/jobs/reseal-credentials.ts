import { startLoop, type Loop } from "@postrider/shared/process/loop";
import { createGauge } from "@postrider/shared/telemetry/metrics";
import { countStaleCredentials } from "#src/db/sealing-keys.ts";
import { readSealingStage } from "#src/db/sealing-stage.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { NIL_ID, resealPage } from "#src/operations/reseal-page.ts";

type ResealDependencies = Pick<Dependencies, "sql" | "logger" | "credentialKeys">;

const CHECK_INTERVAL_MS = 60_000;

const staleCredentials = createGauge(
  "credentials_sealed_with_older_keys",
  "Credentials that are not sealed with the newest key yet, or not bound to their account although they should be; 0 = older keys may be removed.",
);
const unboundAccepted = createGauge(
  "credentials_unbound_accepted",
  "1 until `postrider credentials reseal` has ended: tokens are accepted that are not bound to the data of their account.",
);

async function measureStale({ sql, credentialKeys }: ResealDependencies): Promise<number> {
  const stage = await readSealingStage(sql);
  unboundAccepted.set(stage === "bound" ? 0 : 1);
  const newestKeyId = credentialKeys[0]?.id ?? "";
  const count = await countStaleCredentials(sql, { newestKeyId, stage });
  staleCredentials.set(count);
  return count;
}

/**
 * Encrypts all stored credentials again after an operator has configured a newer encryption key, while the accounts service
 * keeps answering requests. A stop or a crash rolls back at most one page. Several replicas share the work.
 */
export function startResealCredentials(deps: ResealDependencies): Loop {
  const { logger } = deps;
  let after: string | undefined;
  return startLoop({
    idleMs: CHECK_INTERVAL_MS,
    work: async () => {
      if (after === undefined) {
        const count = await measureStale(deps);
        if (count === 0) return false;
        logger.info(
          { count },
          "credentials that are sealed with an older key, or not bound to their account, are being sealed again",
        );
      }
      after = (await resealPage(deps, after ?? NIL_ID)).last;
      if (after !== undefined) return true;
      const count = await measureStale(deps);
      logger.info(
        { count },
        "the job that seals credentials again has gone through all of them; the field `count` says how many are still not sealed with the newest key, or not bound to their account",
      );
      return false;
    },
    onError: (error) =>
      logger.error({ err: error }, "credentials could not be sealed again; the job tries again"),
  });
}
