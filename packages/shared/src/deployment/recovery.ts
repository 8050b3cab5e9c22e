import type { AuditAction } from "#src/audit/actions.ts";
import { appendAudit } from "#src/audit/append.ts";
import type { Sql, TransactionSql } from "#src/postgres.ts";
import * as deployments from "./table.ts";

export async function auditRecovery(
  tx: TransactionSql,
  action: Extract<AuditAction, `recovery.${string}`>,
  deploymentId: string,
  details: Readonly<Record<string, string>> = {},
): Promise<void> {
  await appendAudit(tx, [{ action, subject: { type: "deployment", id: deploymentId }, details }]);
}

/** False when the data is our own already. `adopt`: for a table with additional columns. */
export async function adoptData(
  sql: Sql,
  deploymentId: string,
  adopt: (
    tx: TransactionSql,
    deploymentId: string,
  ) => Promise<boolean> = deployments.adoptDeployment,
): Promise<boolean> {
  return await sql.begin(async (tx) => {
    if (!(await adopt(tx, deploymentId))) return false;
    await auditRecovery(tx, "recovery.adopt", deploymentId);
    return true;
  });
}

/** Makes the recovery RPCs of a service that has no state outside of its database. */
export function createRecoveryService({
  sql,
  deploymentId,
}: {
  readonly sql: Sql;
  readonly deploymentId: string;
}) {
  return {
    async getRecovery() {
      const ownership = await deployments.readOwnership(sql, deploymentId);
      return { heldBecause: ownership.kind === "foreign" ? ownership.reason : "" };
    },
    async adoptData() {
      return { adopted: await adoptData(sql, deploymentId) };
    },
  };
}
