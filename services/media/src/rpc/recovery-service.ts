import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type {
  RecoveryService,
  StoreRecoverySchema,
} from "@postrider/contracts/media/v1/recovery_service_pb";
import { adoptData, auditRecovery } from "@postrider/shared/deployment/recovery";
import { adoptDeployment, recordRestore } from "#src/db/deployment.ts";
import type { RpcDependencies } from "#src/operations/dependencies.ts";
import type { StoreOwner } from "#src/operations/store-owner.ts";

type Deps = Pick<RpcDependencies, "sql" | "guard" | "deploymentId">;

const HELD_BECAUSE = {
  own: "",
  foreign: "deployment",
  unreadable: "unreadable",
  unmarked: "unmarked",
  files_missing: "files_missing",
} as const satisfies Record<StoreOwner["kind"], string>;

function toStore(owner: StoreOwner, own: string): MessageInitShape<typeof StoreRecoverySchema> {
  const heldBecause = HELD_BECAUSE[owner.kind];
  if (owner.kind === "own") return { heldBecause, belongsTo: own };
  if (owner.kind !== "foreign") return { heldBecause };
  const { deploymentId, systemIdentifier, databaseOid } = owner.marker;
  const belongsTo = `${deploymentId} (cluster ${systemIdentifier}, database ${databaseOid})`;
  return { heldBecause, belongsTo };
}

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
      return { adopted: await adoptData(sql, deploymentId, adoptDeployment) };
    },
    async markRestored() {
      await sql.begin(async (tx) => {
        await recordRestore(tx, deploymentId, 0);
        await auditRecovery(tx, "recovery.mark_restored", deploymentId);
      });
      return {};
    },
    async adoptStore() {
      const adopted = await guard.adoptStore();
      if (adopted)
        await sql.begin(
          async (tx) => await auditRecovery(tx, "recovery.adopt_store", deploymentId),
        );
      return { adopted };
    },
  } satisfies ServiceImpl<typeof RecoveryService>;
}
