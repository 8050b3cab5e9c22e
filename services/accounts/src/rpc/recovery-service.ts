import type { ServiceImpl } from "@connectrpc/connect";
import type { RecoveryService } from "@postrider/contracts/accounts/v1/recovery_service_pb";
import { unavailable } from "@postrider/shared/errors";
import { adoptDeployment, findHold } from "#src/db/deployment.ts";
import type { Deps } from "#src/operations/dependencies.ts";

/** The table of contents of RecoveryService; its operations are a statement or two each. */
export function createRecoveryService({ sql, deploymentId }: Pick<Deps, "sql" | "deploymentId">) {
  const getHold = async () => {
    const reason = await findHold(sql, deploymentId);
    if (reason === undefined) throw unavailable();
    return reason;
  };
  return {
    async getRecovery() {
      return { heldBecause: (await getHold()) ?? "" };
    },
    async adoptData() {
      await getHold();
      return { adopted: await adoptDeployment(sql, deploymentId) };
    },
  } satisfies ServiceImpl<typeof RecoveryService>;
}
