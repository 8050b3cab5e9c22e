import { appendAudit } from "@postrider/shared/audit/append";
import type { TransactionSql } from "@postrider/shared/postgres";
import { isBoundText, SealError } from "@postrider/shared/secrets/sealing";
import { lockOpenAuthorizations, setCodeVerifier } from "#src/db/authorizations.ts";
import { listStaleCredentials, type CurrentSealing } from "#src/db/sealing-keys.ts";
import { endResealing, lockSealingStage } from "#src/db/sealing-stage.ts";
import { placeOfCodeVerifier } from "#src/domain/sealed-places.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { NIL_ID, PAGE_SIZE, tryReseal } from "#src/operations/reseal-page.ts";
import { sealAt, unsealAt } from "#src/operations/token-sealing.ts";

type FinishDependencies = Pick<Dependencies, "sql" | "logger" | "credentialKeys" | "deploymentId">;

/** What remains after the last page of credentials was encrypted again. */
export interface Rest {
  /** Whether no credential is left that has to be encrypted again and can be. */
  readonly isFinished: boolean;
  /** Number of credentials that cannot be decrypted, because they or their accounts were changed in the database. */
  readonly damaged: number;
  /** Number of credentials whose key is not configured. */
  readonly locked: number;
}

/** Tries to decrypt the credentials that are left to be encrypted again, and stops at the first one that can be decrypted. */
async function inspectRest(
  tx: TransactionSql,
  deps: FinishDependencies,
  current: CurrentSealing,
): Promise<Rest> {
  let [damaged, locked] = [0, 0];
  for (let after = NIL_ID; ;) {
    const stale = await listStaleCredentials(tx, current, { after, limit: PAGE_SIZE });
    for (const tokens of stale) {
      const result = tryReseal(deps, tokens, current.stage);
      if (!(result instanceof SealError)) return { isFinished: false, damaged, locked };
      if (result.isBroken) damaged += 1;
      else locked += 1;
    }
    const last = stale.at(-1)?.accountId;
    if (last === undefined) return { isFinished: locked === 0, damaged, locked };
    after = last;
  }
}

/** Binds the code verifiers of authorizations whose browsers are at a platform, so that these authorizations can end. */
async function bindCodeVerifiers(tx: TransactionSql, deps: FinishDependencies): Promise<void> {
  for (const authorization of await lockOpenAuthorizations(tx)) {
    const { id, codeVerifier } = authorization;
    if (isBoundText(codeVerifier)) continue;
    const place = placeOfCodeVerifier(authorization);
    try {
      const text = unsealAt(deps, place, codeVerifier, { isUnboundAccepted: true });
      await setCodeVerifier(tx, id, sealAt(deps, place, text, true));
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
      deps.logger.error(
        { err: error, authorizationId: id },
        "the OAuth code verifier of an authorization cannot be unsealed; the person must connect the account again",
      );
    }
  }
}

/**
 * Makes all processes refuse tokens that are not bound to the data of their accounts, if none is left that can be encrypted
 * again. Credentials that cannot be decrypted do not count: they cannot be used either.
 */
export async function finishResealing(deps: FinishDependencies): Promise<Rest> {
  const newestKeyId = deps.credentialKeys[0]?.id ?? "";
  return await deps.sql.begin(async (tx) => {
    const stage = await lockSealingStage(tx);
    const rest = await inspectRest(tx, deps, { newestKeyId, stage });
    if (!rest.isFinished || stage !== "resealing") return rest;
    await bindCodeVerifiers(tx, deps);
    await endResealing(tx);
    // From now on, tokens that are not bound to the data of their accounts are refused, which cannot be undone.
    const subject = { type: "deployment", id: deps.deploymentId } as const;
    await appendAudit(tx, [
      { action: "credentials.bind", subject, details: { damaged: rest.damaged } },
    ]);
    return rest;
  });
}
