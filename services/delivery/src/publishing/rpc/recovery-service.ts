import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type {
  RecoverySchema,
  RecoveryService,
  TrustRestoreRequest,
} from "@postrider/contracts/delivery/v1/recovery_service_pb";
import { compareDeployments, type Deployment } from "@postrider/shared/deployment/ownership";
import { adoptData, auditRecovery } from "@postrider/shared/deployment/recovery";
import { conflict, invalidRequest, unavailable } from "@postrider/shared/errors";
import type { ISql, Sql } from "@postrider/shared/postgres";
import { adoptDeployment, findDeployment, markRestored } from "#src/publishing/db/deployment.ts";
import { countDoubts } from "#src/publishing/db/doubts.ts";
import { trustRestore } from "#src/publishing/db/trusted-restores.ts";
import { findTrustRefusal, type DataCopy } from "#src/publishing/domain/restore.ts";
import type { Dependencies } from "./dependencies.ts";

function toPlace(deployment: Deployment & DataCopy) {
  const { systemIdentifier, databaseOid, timeline, deploymentId } = deployment;
  return { systemIdentifier, databaseOid: BigInt(databaseOid), timeline, deploymentId };
}

/** A restore that no process has noticed yet is not included. */
async function readRecovery(
  sql: ISql,
  deploymentId: string,
): Promise<MessageInitShape<typeof RecoverySchema>> {
  const [found, openTargets] = await Promise.all([
    findDeployment(sql, deploymentId),
    countDoubts(sql),
  ]);
  if (found === undefined) throw unavailable();
  const { stored, current, readAt } = found;
  const ownership = compareDeployments(stored, current);
  const { restoredAt, dataUntil, trustedAt } = stored;
  const isForeign = ownership.kind === "foreign";
  return {
    heldBecause: isForeign ? ownership.reason : "",
    trustRefusedBecause: isForeign ? "held" : (findTrustRefusal(stored, current, readAt) ?? ""),
    belongs: toPlace(stored),
    lies: toPlace(current),
    openTargets,
    ...(restoredAt === null ? {} : { restoredAt: timestampFromDate(restoredAt) }),
    ...(dataUntil === null ? {} : { dataUntil: timestampFromDate(dataUntil) }),
    ...(trustedAt === null ? {} : { trustedAt: timestampFromDate(trustedAt) }),
  };
}

/** Idempotent: a caller repeats a call whose answer it did not get. */
async function trust(
  sql: Sql,
  deploymentId: string,
  { restoredAt }: TrustRestoreRequest,
): Promise<MessageInitShape<typeof RecoverySchema>> {
  if (restoredAt === undefined) throw invalidRequest([{ code: "required", path: "/restoredAt" }]);
  const at = timestampDate(restoredAt);
  const isTrusted = await sql.begin(async (tx) => {
    if (!(await trustRestore(tx, deploymentId, at))) return false;
    await auditRecovery(tx, "recovery.trust", deploymentId, { restoredAt: at.toISOString() });
    return true;
  });
  const recovery = await readRecovery(sql, deploymentId);
  const { trustedAt } = recovery;
  const isTrustedBefore =
    trustedAt?.seconds === restoredAt.seconds && trustedAt.nanos === restoredAt.nanos;
  if (!isTrusted && !isTrustedBefore) throw conflict("invalid_transition");
  return recovery;
}

export function createRecoveryService({
  sql,
  deploymentId,
  nudgeClaims,
}: Omit<Dependencies, "handlers">) {
  return {
    async getRecovery() {
      return { recovery: await readRecovery(sql, deploymentId) };
    },
    async adoptData() {
      const adopted = await adoptData(sql, deploymentId, adoptDeployment);
      nudgeClaims();
      return { adopted, recovery: await readRecovery(sql, deploymentId) };
    },
    async markRestored() {
      await sql.begin(async (tx) => {
        await markRestored(tx);
        await auditRecovery(tx, "recovery.mark_restored", deploymentId);
      });
      nudgeClaims();
      return { recovery: await readRecovery(sql, deploymentId) };
    },
    async trustRestore(request) {
      return { recovery: await trust(sql, deploymentId, request) };
    },
  } satisfies ServiceImpl<typeof RecoveryService>;
}
