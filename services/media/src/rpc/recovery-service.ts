import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type {
  RecoveryService,
  StoreRecoverySchema,
} from "@postrider/contracts/media/v1/recovery_service_pb";
import type { AuditAction } from "@postrider/shared/audit/actions";
import { appendAudit } from "@postrider/shared/audit/append";
import type { TransactionSql } from "@postrider/shared/postgres";
import { adoptDeployment, recordRestore } from "#src/db/deployment.ts";
import type { RpcDependencies } from "#src/operations/dependencies.ts";
import type { StoreOwner } from "#src/operations/store-guard.ts";

type Deps = Pick<RpcDependencies, "sql" | "guard" | "deploymentId">;

const HELD_BECAUSE = {
  own: "",
  foreign: "deployment",
  unreadable: "unreadable",
  unmarked: "unmarked",
} as const satisfies Record<StoreOwner["kind"], string>;

function toStore(owner: StoreOwner, own: string): MessageInitShape<typeof StoreRecoverySchema> {
  const heldBecause = HELD_BECAUSE[owner.kind];
  if (owner.kind === "own") return { heldBecause, belongsTo: own };
  if (owner.kind !== "foreign") return { heldBecause };
  const { deploymentId, systemIdentifier, databaseOid } = owner.marker;
  const belongsTo = `${deploymentId} (cluster ${systemIdentifier}, database ${databaseOid})`;
  return { heldBecause, belongsTo };
}

async function audit(
  tx: TransactionSql,
  deploymentId: string,
  action: Extract<AuditAction, `recovery.${string}`>,
): Promise<void> {
  await appendAudit(tx, [{ action, subject: { type: "deployment", id: deploymentId } }]);
}

/** Creates the RPCs with which operators see and change which deployment the data and the object store belong to. */
export function createRecoveryService({ sql, guard, deploymentId }: Deps) {
  return {
    async getRecovery() {
      const state = await guard.read();
      if (state.kind === "foreign_data") return { heldBecause: state.reason };
      const { keptUntil, owner } = state;
      return {
        heldBecause: "",
        store: toStore(owner, deploymentId),
        ...(keptUntil === null ? {} : { filesKeptUntil: timestampFromDate(keptUntil) }),
      };
    },
    async adoptData() {
      const adopted = await sql.begin(async (tx) => {
        if (!(await adoptDeployment(tx, deploymentId))) return false;
        await audit(tx, deploymentId, "recovery.adopt");
        return true;
      });
      return { adopted };
    },
    async markRestored() {
      await sql.begin(async (tx) => {
        await recordRestore(tx, deploymentId, 0);
        await audit(tx, deploymentId, "recovery.mark_restored");
      });
      return {};
    },
    async adoptStore() {
      const adopted = await guard.adoptStore();
      if (adopted)
        await sql.begin(async (tx) => await audit(tx, deploymentId, "recovery.adopt_store"));
      return { adopted };
    },
  } satisfies ServiceImpl<typeof RecoveryService>;
}
