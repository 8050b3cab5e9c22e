import type { ServiceImpl } from "@connectrpc/connect";
import type { RecoveryService } from "@postrider/contracts/posts/v1/recovery_service_pb";
import { appendAudit } from "@postrider/shared/audit/append";
import { adoptDeployment, readOwnership } from "@postrider/shared/deployment/table";
import type { PostsDeps } from "#src/operations/dependencies.ts";

/** The RPCs of RecoveryService, which each consist of one or two SQL statements. */
export function createRecoveryService({
  sql,
  deploymentId,
}: Pick<PostsDeps, "sql"> & { readonly deploymentId: string }) {
  return {
    async getRecovery() {
      const ownership = await readOwnership(sql, deploymentId);
      return { heldBecause: ownership.kind === "foreign" ? ownership.reason : "" };
    },
    async adoptData() {
      const adopted = await sql.begin(async (tx) => {
        if (!(await adoptDeployment(tx, deploymentId))) return false;
        const subject = { type: "deployment", id: deploymentId } as const;
        await appendAudit(tx, [{ action: "recovery.adopt", subject }]);
        return true;
      });
      return { adopted };
    },
  } satisfies ServiceImpl<typeof RecoveryService>;
}
