import { startLoop, type Loop } from "@postrider/shared/process/loop";
import { SealError } from "@postrider/shared/secrets/sealing";
import { createCounter, createGauge } from "@postrider/shared/telemetry/metrics";
import {
  countStaleCredentials,
  lockStaleCredentials,
  writeResealedTokens,
  type SealedTokens,
} from "#src/db/sealing-keys.ts";
import { placeOfToken } from "#src/domain/sealed-places.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { sealAt, unsealToken } from "#src/operations/token-sealing.ts";

type ResealDependencies = Pick<Dependencies, "sql" | "logger" | "credentialKeys">;

const BATCH_SIZE = 200;
const CHECK_INTERVAL_MS = 60_000;
/** An id that sorts before every account id. The first batch starts after it. */
const NIL_ID = "00000000-0000-0000-0000-000000000000";

const resealedTotal = createCounter(
  "credentials_resealed_total",
  "Credentials that were sealed again with the newest key.",
);
const staleCredentials = createGauge(
  "credentials_sealed_with_older_keys",
  "Credentials that are not sealed with the newest key yet; 0 = older keys may be removed.",
);

/**
 * Returns the tokens of a credential, encrypted with the newest sealing key. Returns undefined, and logs an error, when
 * a token cannot be decrypted.
 */
function reseal(
  deps: ResealDependencies,
  { accountId, accessToken, refreshToken }: SealedTokens,
): SealedTokens | undefined {
  const resealToken = (column: "access_token" | "refresh_token", sealed: string): string =>
    sealAt(deps, placeOfToken(accountId, column), unsealToken(deps, accountId, column, sealed));
  try {
    return {
      accountId,
      accessToken: resealToken("access_token", accessToken),
      refreshToken: refreshToken === null ? null : resealToken("refresh_token", refreshToken),
    };
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    deps.logger.error(
      { err: error, accountId },
      "a credential cannot be unsealed and stays sealed with its old key; connect the account again",
    );
    return undefined;
  }
}

/**
 * Encrypts one batch of credentials with the newest sealing key, in one transaction. Returns the id of the batch's last
 * account, or undefined when no credential is left.
 */
async function resealBatch(
  deps: ResealDependencies,
  newestKeyId: string,
  after: string,
): Promise<string | undefined> {
  const { last, count } = await deps.sql.begin(async (tx) => {
    const stale = await lockStaleCredentials(tx, newestKeyId, after, BATCH_SIZE);
    const resealed = stale.map((row) => reseal(deps, row)).filter((row) => row !== undefined);
    if (resealed.length > 0) await writeResealedTokens(tx, resealed);
    return { last: stale.at(-1)?.accountId, count: resealed.length };
  });
  resealedTotal.inc(count);
  return last;
}

async function measureStale(
  { sql }: Pick<ResealDependencies, "sql">,
  newestKeyId: string,
): Promise<number> {
  const count = await countStaleCredentials(sql, newestKeyId);
  staleCredentials.set(count);
  return count;
}

/**
 * Encrypts all stored credentials again after an operator has configured a newer sealing key, while the accounts
 * service keeps answering requests. A stop or a crash rolls back at most one batch. Several replicas share the work.
 */
export function startResealCredentials(deps: ResealDependencies): Loop {
  const { logger } = deps;
  const newestKeyId = deps.credentialKeys[0]?.id ?? "";
  let after: string | undefined;
  return startLoop({
    idleMs: CHECK_INTERVAL_MS,
    work: async () => {
      if (after === undefined) {
        const count = await measureStale(deps, newestKeyId);
        if (count === 0) return false;
        logger.info(
          { count },
          "credentials that are sealed with an older key are being sealed with the newest key",
        );
      }
      after = await resealBatch(deps, newestKeyId, after ?? NIL_ID);
      if (after !== undefined) return true;
      const count = await measureStale(deps, newestKeyId);
      logger.info(
        { count },
        "a round of sealing credentials with the newest key has ended; the count is the number of credentials still sealed with an older key",
      );
      return false;
    },
    onError: (error) =>
      logger.error(
        { err: error },
        "credentials could not be sealed with the newest key; the job tries again",
      ),
  });
}
