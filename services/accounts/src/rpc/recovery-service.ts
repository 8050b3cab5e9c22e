import type { ServiceImpl } from "@connectrpc/connect";
import type { RecoveryService } from "@postrider/contracts/accounts/v1/recovery_service_pb";
import { adoptDeployment, readOwnership } from "@postrider/shared/deployment/table";
import type { Dependencies } from "#src/operations/dependencies.ts";

/** The RPCs of RecoveryService, which each consist of one or two SQL statements. */
export function createRecoveryService({
  sql,
  deploymentId,
}: Pick<Dependencies, "sql" | "deploymentId">) {
  return {
    async getRecovery() {
      const ownership = await readOwnership(sql, deploymentId);
      return { heldBecause: ownership.kind === "foreign" ? ownership.reason : "" };
    },
    async adoptData() {
      return { adopted: await adoptDeployment(sql, deploymentId) };
    },
  } satisfies ServiceImpl<typeof RecoveryService>;
}
