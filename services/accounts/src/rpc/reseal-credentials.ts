import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ResealCredentialsRequest,
  ResealCredentialsResponseSchema,
} from "@postrider/contracts/accounts/v1/credential_service_pb";
import { appendAudit } from "@postrider/shared/audit/append";
import { invalidRequest } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { countStaleCredentials } from "#src/db/sealing-keys.ts";
import { beginResealing, readSealingStage } from "#src/db/sealing-stage.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { finishResealing } from "#src/operations/finish-resealing.ts";
import { NIL_ID, resealPage } from "#src/operations/reseal-page.ts";

type ResealDependencies = Pick<Dependencies, "sql" | "logger" | "credentialKeys" | "deploymentId">;

/** Lets all processes seal bound, which ends the way back to the previous release. */
async function beginBinding({
  sql,
  deploymentId,
}: Pick<ResealDependencies, "sql" | "deploymentId">): Promise<void> {
  await sql.begin(async (tx) => {
    if (!(await beginResealing(tx))) return;
    const subject = { type: "deployment", id: deploymentId } as const;
    await appendAudit(tx, [{ action: "credentials.begin_binding", subject }]);
  });
}

/** Begins a round of sealing credentials again, and returns the number of credentials that have to be sealed again. */
async function beginRound(deps: ResealDependencies): Promise<number> {
  const { sql, credentialKeys } = deps;
  await beginBinding(deps);
  const stage = await readSealingStage(sql);
  return await countStaleCredentials(sql, { newestKeyId: credentialKeys[0]?.id ?? "", stage });
}

/**
 * Seals one page of credentials again. The first page of a round lets all processes seal bound from now on; after the last page,
 * texts that are not bound are refused, if none is left that can be sealed again.
 */
export async function resealCredentials(
  deps: ResealDependencies,
  { after }: ResealCredentialsRequest,
): Promise<MessageInitShape<typeof ResealCredentialsResponseSchema>> {
  if (after !== "" && !isId(after)) throw invalidRequest([{ code: "invalid", path: "/after" }]);
  const remaining = after === "" ? await beginRound(deps) : 0;
  const { last, resealed } = await resealPage(deps, after === "" ? NIL_ID : after);
  const common = { remaining: BigInt(remaining), resealed };
  if (last !== undefined) return { ...common, after: last };
  const { isFinished, damaged, locked } = await finishResealing(deps);
  return { ...common, finished: isFinished, damaged, locked };
}
