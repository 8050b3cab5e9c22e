import { NIL_ID } from "@postrider/shared/ids";
import { startLoop, type Loop } from "@postrider/shared/process/loop";
import { SealError, unseal } from "@postrider/shared/secrets/sealing";
import { createCounter, createGauge } from "@postrider/shared/telemetry/metrics";
import {
  countStaleCredentials,
  lockStaleCredentials,
  type SealedTokens,
  type StaleTokens,
  writeResealedTokens,
} from "#src/db/sealing-keys.ts";
import { placeOfToken, type TokenColumn } from "#src/domain/sealed-places.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { sealAt } from "#src/operations/token-sealing.ts";

type ResealDependencies = Pick<Dependencies, "sql" | "logger" | "credentialKeys">;

const PAGE_SIZE = 200;

const resealedTotal = createCounter(
  "credentials_resealed_total",
  "Credentials that were re-encrypted with the newest key.",
);

/** Encrypts the tokens of a credential again, or returns why they cannot be decrypted. */
function tryReseal(
  deps: Pick<Dependencies, "credentialKeys">,
  tokens: StaleTokens,
): SealedTokens | SealError {
  const reseal = (column: TokenColumn, sealed: string): string => {
    const place = placeOfToken(tokens, column);
    return sealAt(deps, place, unseal(deps.credentialKeys, place, sealed));
  };
  const { accountId, accessToken, refreshToken } = tokens;
  try {
    return {
      accountId,
      accessToken: reseal("access_token", accessToken),
      refreshToken: refreshToken === null ? null : reseal("refresh_token", refreshToken),
    };
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    return error;
  }
}

interface ResealedPage {
  /** The last account id of the page of credentials; undefined when no credential was left. */
  readonly last: string | undefined;
  readonly resealed: number;
}

/**
 * Encrypts a page of credentials again with the newest key, in one transaction. A credential that
 * cannot be decrypted is logged and stays unchanged.
 */
async function resealPage(deps: ResealDependencies, after: string): Promise<ResealedPage> {
  const newestKeyId = deps.credentialKeys[0]?.id ?? "";
  const page = await deps.sql.begin(async (tx) => {
    const stale = await lockStaleCredentials(tx, newestKeyId, { after, limit: PAGE_SIZE });
    const resealed = stale.flatMap((tokens): readonly SealedTokens[] => {
      const result = tryReseal(deps, tokens);
      if (!(result instanceof SealError)) return [result];
      deps.logger.error(
        { err: result, accountId: tokens.accountId },
        "a credential cannot be decrypted, so it was not re-encrypted with the newest key; add its key to CREDENTIAL_KEYS, or reconnect the account if no key is missing",
      );
      return [];
    });
    if (resealed.length > 0) await writeResealedTokens(tx, resealed);
    return { last: stale.at(-1)?.accountId, resealed: resealed.length };
  });
  resealedTotal.inc(page.resealed);
  return page;
}

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
 * Encrypts all stored credentials again after an operator has configured a newer encryption key,
 * while the accounts service keeps answering requests. A stop or a crash rolls back at most one
 * page. Several replicas share the work.
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
          "credentials that an older key encrypts are being re-encrypted with the newest key",
        );
      }
      after = (await resealPage(deps, after ?? NIL_ID)).last;
      if (after !== undefined) return true;
      const count = await measureStale(deps);
      logger.info(
        { count },
        "the re-encryption of credentials is finished; the field `count` says how many the newest key still does not encrypt",
      );
      return false;
    },
    onError: (error) =>
      logger.error(
        { err: error },
        "credentials could not be re-encrypted with the newest key; the job tries again",
      ),
  });
}
