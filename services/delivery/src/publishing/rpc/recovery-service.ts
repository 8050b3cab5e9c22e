import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type {
  RecoverySchema,
  RecoveryService,
} from "@postrider/contracts/delivery/v1/recovery_service_pb";
import { compareDeployments, type Deployment } from "@postrider/shared/deployment/ownership";
import { unavailable } from "@postrider/shared/errors";
import type { ISql } from "@postrider/shared/postgres";
import { adoptDeployment, findDeployment, markRestored } from "#src/publishing/db/deployment.ts";
import { countDoubts } from "#src/publishing/db/doubts.ts";
import type { DataCopy } from "#src/publishing/domain/restore.ts";
import type { Dependencies } from "./dependencies.ts";

function toPlace(deployment: Deployment & DataCopy) {
  const { systemIdentifier, databaseOid, timeline, deploymentId } = deployment;
  return { systemIdentifier, databaseOid: BigInt(databaseOid), timeline, deploymentId };
}

/**
 * Reads from the database whether the data was restored from a backup or belongs to another deployment. A restore that
 * no process has noticed yet is not included.
 */
async function readRecovery(
  sql: ISql,
  deploymentId: string,
): Promise<MessageInitShape<typeof RecoverySchema>> {
  const [found, openTargets] = await Promise.all([
    findDeployment(sql, deploymentId),
    countDoubts(sql),
  ]);
  if (found === undefined) throw unavailable();
  const { stored, current } = found;
  const ownership = compareDeployments(stored, current);
  const { restoredAt, dataUntil } = stored;
  return {
    heldBecause: ownership.kind === "foreign" ? ownership.reason : "",
    belongs: toPlace(stored),
    lies: toPlace(current),
    openTargets,
    ...(restoredAt === null ? {} : { restoredAt: timestampFromDate(restoredAt) }),
    ...(dataUntil === null ? {} : { dataUntil: timestampFromDate(dataUntil) }),
  };
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
      const adopted = await adoptDeployment(sql, deploymentId);
      nudgeClaims();
      return { adopted, recovery: await readRecovery(sql, deploymentId) };
    },
    async markRestored() {
      await markRestored(sql);
      nudgeClaims();
      return { recovery: await readRecovery(sql, deploymentId) };
    },
  } satisfies ServiceImpl<typeof RecoveryService>;
}
