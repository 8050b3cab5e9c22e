import { isBoundText, SealError } from "@postrider/shared/secrets/sealing";
import { createCounter } from "@postrider/shared/telemetry/metrics";
import {
  lockStaleCredentials,
  writeResealedTokens,
  type SealedTokens,
  type StaleTokens,
} from "#src/db/sealing-keys.ts";
import { holdSealingStage, type SealingStage } from "#src/db/sealing-stage.ts";
import { placeOfToken, type TokenColumn } from "#src/domain/sealed-places.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { sealAt, unsealAt } from "#src/operations/token-sealing.ts";

type ResealDependencies = Pick<Dependencies, "sql" | "logger" | "credentialKeys">;

/** Number of credentials that are encrypted again in one transaction. */
export const PAGE_SIZE = 200;
/** An id that sorts before every account id. The first page starts after it. */
export const NIL_ID = "00000000-0000-0000-0000-000000000000";

const resealedTotal = createCounter(
  "credentials_resealed_total",
  "Credentials that were sealed again with the newest key, or bound to the data of their account.",
);

/** Encrypts the tokens of a credential again, or returns why they cannot be decrypted. */
export function tryReseal(
  deps: Pick<Dependencies, "credentialKeys">,
  tokens: StaleTokens,
  stage: SealingStage,
): SealedTokens | SealError {
  const owner = { ...tokens, isUnboundAccepted: stage !== "bound" };
  const reseal = (column: TokenColumn, sealed: string): string => {
    // A token that is already bound to the data of its account stays bound, even if an attacker has changed the encryption
    // stage in the database back.
    const isBound = stage !== "unbound" || isBoundText(sealed);
    const place = placeOfToken(owner, column);
    return sealAt(deps, place, unsealAt(deps, place, sealed, owner), isBound);
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
 * Encrypts a page of credentials again, in one transaction: with the newest key and, unless processes of the previous release may
 * run, bound to the data of their accounts. A credential that cannot be decrypted is logged and stays unchanged.
 */
export async function resealPage(deps: ResealDependencies, after: string): Promise<ResealedPage> {
  const newestKeyId = deps.credentialKeys[0]?.id ?? "";
  const page = await deps.sql.begin(async (tx) => {
    const stage = await holdSealingStage(tx);
    const current = { newestKeyId, stage };
    const stale = await lockStaleCredentials(tx, current, { after, limit: PAGE_SIZE });
    const resealed = stale.flatMap((tokens): readonly SealedTokens[] => {
      const result = tryReseal(deps, tokens, stage);
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
