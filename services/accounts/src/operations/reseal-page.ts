import { SealError, unseal } from "@postrider/shared/secrets/sealing";
import { createCounter } from "@postrider/shared/telemetry/metrics";
import {
  lockStaleCredentials,
  writeResealedTokens,
  type SealedTokens,
  type StaleTokens,
} from "#src/db/sealing-keys.ts";
import { placeOfToken, type TokenColumn } from "#src/domain/sealed-places.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { sealAt } from "#src/operations/token-sealing.ts";

type ResealDependencies = Pick<Dependencies, "sql" | "logger" | "credentialKeys">;

/** Number of credentials that are encrypted again in one transaction. */
const PAGE_SIZE = 200;

const resealedTotal = createCounter(
  "credentials_resealed_total",
  "Credentials that were sealed again with the newest key.",
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

/** The result of encrypting a page of credentials again. */
export interface ResealedPage {
  /** The last account id of the page of credentials; undefined when no credential was left. */
  readonly last: string | undefined;
  readonly resealed: number;
}

/**
 * Encrypts a page of credentials again with the newest key, in one transaction. A credential that cannot be decrypted is logged
 * and stays unchanged.
 */
export async function resealPage(deps: ResealDependencies, after: string): Promise<ResealedPage> {
  const newestKeyId = deps.credentialKeys[0]?.id ?? "";
  const page = await deps.sql.begin(async (tx) => {
    const stale = await lockStaleCredentials(tx, newestKeyId, { after, limit: PAGE_SIZE });
    const resealed = stale.flatMap((tokens): readonly SealedTokens[] => {
      const result = tryReseal(deps, tokens);
      if (!(result instanceof SealError)) return [result];
      deps.logger.error(
        { err: result, accountId: tokens.accountId },
        "a credential cannot be unsealed, so it was not sealed again; add its key to CREDENTIAL_KEYS, or connect the account again if no key is missing",
      );
      return [];
    });
    if (resealed.length > 0) await writeResealedTokens(tx, resealed);
    return { last: stale.at(-1)?.accountId, resealed: resealed.length };
  });
  resealedTotal.inc(page.resealed);
  return page;
}
