import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type {
  RecoverySchema,
  RecoveryService,
} from "@postrider/contracts/delivery/v1/recovery_service_pb";
import { unavailable } from "@postrider/shared/errors";
import type { ISql, Sql } from "@postrider/shared/postgres";
import { adoptDeployment, findDeployment, markRestored } from "#src/publishing/db/deployment.ts";
import { countDoubts } from "#src/publishing/db/doubts.ts";
import { judgeOrigin, type DataPlace } from "#src/publishing/domain/origin.ts";

export interface RecoveryServiceDeps {
  readonly sql: Sql;
  readonly deploymentId: string;
  /** Called when something may be published again. */
  readonly nudgeClaims: () => void;
}

function toPlace({ systemIdentifier, databaseOid, timeline }: DataPlace, deploymentId: string) {
  return { systemIdentifier, databaseOid: BigInt(databaseOid), timeline, deploymentId };
}

/** What is true at this moment; a restore that no process has noticed yet is not part of it. */
async function readRecovery(
  sql: ISql,
  deploymentId: string,
): Promise<MessageInitShape<typeof RecoverySchema>> {
  const [found, openTargets] = await Promise.all([findDeployment(sql), countDoubts(sql)]);
  if (found === undefined) throw unavailable();
  const { stored, place } = found;
  const judgement = judgeOrigin(stored, place, { deploymentId, rememberedAt: undefined });
  const { restoredAt, dataUntil } = stored;
  return {
    heldBecause: judgement.kind === "foreign" ? judgement.reason : "",
    belongs: toPlace(stored, stored.deploymentId),
    lies: toPlace(place, deploymentId),
    openTargets,
    ...(restoredAt === null ? {} : { restoredAt: timestampFromDate(restoredAt) }),
    ...(dataUntil === null ? {} : { dataUntil: timestampFromDate(dataUntil) }),
  };
}

/** The table of contents of RecoveryService; its operations are one statement each, and a look at what came of it. */
export function createRecoveryService({ sql, deploymentId, nudgeClaims }: RecoveryServiceDeps) {
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
