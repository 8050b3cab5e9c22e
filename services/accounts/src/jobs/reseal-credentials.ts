import { randomBytes } from "node:crypto";
import type { Sql } from "@postrider/shared/postgres";
import { startLoop, type Loop } from "@postrider/shared/process/loop";
import { seal, SealError, unseal, type SealingKey } from "@postrider/shared/secrets/sealing";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { createCounter, createGauge } from "@postrider/shared/telemetry/metrics";
import {
  countStaleCredentials,
  lockStaleCredentials,
  writeResealed,
  type SealedTokens,
} from "#src/db/sealing-keys.ts";
import { placeOfToken } from "#src/domain/token-place.ts";

/** What the job is built from. */
export interface ResealDeps {
  readonly sql: Sql;
  readonly logger: Logger;
  /** Newest first. */
  readonly credentialKeys: readonly SealingKey[];
}

const BATCH = 200;
const EVERY_MS = 60_000;
const NONCE_BYTES = 12;
const FIRST_ACCOUNT = "00000000-0000-0000-0000-000000000000";

const resealedTotal = createCounter(
  "credentials_resealed_total",
  "Credentials that were sealed again with the newest key.",
);
const staleCredentials = createGauge(
  "credentials_sealed_with_older_keys",
  "Credentials that are not sealed with the newest key yet; 0 = older keys may be removed.",
);

/** The same tokens under the newest key; undefined when they do not open, which the log says. */
function reseal(
  { credentialKeys, logger }: ResealDeps,
  { accountId, accessToken, refreshToken }: SealedTokens,
): SealedTokens | undefined {
  const again = (column: "access_token" | "refresh_token", sealed: string): string => {
    const place = placeOfToken(accountId, column);
    const text = unseal(credentialKeys, place, sealed);
    return seal(credentialKeys, place, text, randomBytes(NONCE_BYTES));
  };
  try {
    return {
      accountId,
      accessToken: again("access_token", accessToken),
      refreshToken: refreshToken === null ? null : again("refresh_token", refreshToken),
    };
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    logger.error({ err: error, accountId }, "a credential cannot be sealed again");
    return undefined;
  }
}

/** Seals one batch again, in one transaction. Returns where the next batch begins; undefined = nothing is left. */
async function resealBatch(
  deps: ResealDeps,
  newestKeyId: string,
  after: string,
): Promise<string | undefined> {
  const { last, count } = await deps.sql.begin(async (tx) => {
    const stale = await lockStaleCredentials(tx, newestKeyId, after, BATCH);
    const resealed = stale.map((row) => reseal(deps, row)).filter((row) => row !== undefined);
    if (resealed.length > 0) await writeResealed(tx, resealed);
    return { last: stale.at(-1)?.accountId, count: resealed.length };
  });
  resealedTotal.inc(count);
  return last;
}

/** How many are left; said by the metric. */
async function measure({ sql }: ResealDeps, newestKeyId: string): Promise<number> {
  const credentials = await countStaleCredentials(sql, newestKeyId);
  staleCredentials.set(credentials);
  return credentials;
}

/**
 * Seals credentials again whenever a newer key was configured, while everything goes on. A stop or a crash loses at most
 * one batch, whose rows are still what they were; several replicas share the work.
 */
export function startResealing(deps: ResealDeps): Loop {
  const { logger } = deps;
  const keyId = deps.credentialKeys[0]?.id ?? "";
  let after: string | undefined;
  return startLoop({
    idleMs: EVERY_MS,
    work: async () => {
      if (after === undefined) {
        const count = await measure(deps, keyId);
        if (count === 0) return false;
        logger.info({ count }, "sealing credentials again with the newest key");
      }
      after = await resealBatch(deps, keyId, after ?? FIRST_ACCOUNT);
      if (after !== undefined) return true;
      const count = await measure(deps, keyId);
      logger.info({ count }, "credentials left with older keys");
      return false;
    },
    onError: (error) => logger.error({ err: error }, "sealing credentials again failed"),
  });
}
