import { NIL_ID } from "@postrider/shared/ids";
import { startLoop, type Loop } from "@postrider/shared/process/loop";
import { createGauge } from "@postrider/shared/telemetry/metrics";
import { countStaleCredentials } from "#src/db/sealing-keys.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { resealPage } from "#src/operations/reseal-page.ts";

type ResealDependencies = Pick<Dependencies, "sql" | "logger" | "credentialKeys">;

const CHECK_INTERVAL_MS = 60_000;

const staleCredentials = createGauge(
  "credentials_sealed_with_older_keys",
  "Credentials that are not sealed with the newest key yet; 0 = older keys may be removed.",
);

async function measureStale({ sql, credentialKeys }: ResealDependencies): Promise<number> {
  const count = await countStaleCredentials(sql, credentialKeys[0]?.id ?? "");
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
          "credentials that are sealed with an older key are being sealed again",
        );
      }
      after = (await resealPage(deps, after ?? NIL_ID)).last;
      if (after !== undefined) return true;
      const count = await measureStale(deps);
      logger.info(
        { count },
        "the job that seals credentials again has gone through all of them; the field `count` says how many are still not sealed with the newest key",
      );
      return false;
    },
    onError: (error) =>
      logger.error({ err: error }, "credentials could not be sealed again; the job tries again"),
  });
}
