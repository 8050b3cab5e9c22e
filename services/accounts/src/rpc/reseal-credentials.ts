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

/**
 * Makes all processes bind the texts that they encrypt to the data of their rows, after which the previous release can no
 * longer run.
 */
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

/**
 * Makes all processes bind the texts that they encrypt to the data of their rows, and returns the number of credentials to
 * encrypt again.
 */
async function beginRound(deps: ResealDependencies): Promise<number> {
  const { sql, credentialKeys } = deps;
  await beginBinding(deps);
  const stage = await readSealingStage(sql);
  return await countStaleCredentials(sql, { newestKeyId: credentialKeys[0]?.id ?? "", stage });
}

/**
 * Encrypts one page of credentials again. From the first page on, all processes bind the texts that they encrypt to the data of
 * their rows. After the last page, unbound texts are refused, if none is left that can be encrypted again.
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
