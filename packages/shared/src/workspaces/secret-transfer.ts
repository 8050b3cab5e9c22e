import { createHash } from "node:crypto";
import type { ServiceImpl } from "@connectrpc/connect";
import type { SecretTransferService } from "@postrider/contracts/operations/v1/secret_transfer_service_pb";
import { appendAudit } from "#src/audit/append.ts";
import { conflict, invalidRequest } from "#src/errors.ts";
import { assertWorkspaceId } from "#src/ids.ts";
import type { ISql, Sql, TransactionSql } from "#src/postgres.ts";
import { boxKeyOf, openBox, sealBox } from "#src/secrets/sealed-box.ts";
import { SealError, type SealingKey } from "#src/secrets/sealing.ts";
import { appendState } from "#src/workspaces/append-state.ts";
import { assertImporting } from "#src/workspaces/import-state.ts";

export interface SecretPage {
  /** What the other cell stores; JSON, with secrets in the clear. */
  readonly content: unknown;
  /** Where the next page begins; undefined for the last one. */
  readonly next: string | undefined;
}

export interface SecretTransferOptions {
  readonly sql: Sql;
  readonly keys: readonly SealingKey[];
  /** Whether the workspace is frozen here and not yet the other cell's. */
  readonly isFrozen: (sql: ISql, workspaceId: string) => Promise<boolean>;
  readonly read: (workspaceId: string, after: string) => Promise<SecretPage>;
  /** Stores what `read` of the other cell has returned; repeated after a crash. */
  readonly write: (tx: TransactionSql, workspaceId: string, content: unknown) => Promise<void>;
}

/** The secrets of one workspace cannot be stored as those of another. */
function purposeOf(workspaceId: string): string {
  return `secrets of the workspace ${workspaceId}`;
}

function open(keys: readonly SealingKey[], workspaceId: string, sealed: Uint8Array): unknown {
  try {
    return JSON.parse(openBox(keys, purposeOf(workspaceId), sealed));
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    throw invalidRequest([{ code: "invalid", path: "/sealed" }]);
  }
}

/** How the secrets of a service go from the cell that a workspace leaves to the other one. */
export function createSecretTransferService({
  sql,
  keys,
  isFrozen,
  read,
  write,
}: SecretTransferOptions): ServiceImpl<typeof SecretTransferService> {
  // Both cells store the same fingerprint, unless the secrets were encrypted for a third party.
  const toDetails = (publicKey: Uint8Array) => ({
    publicKeySha256: createHash("sha256").update(publicKey).digest("hex"),
  });
  return {
    async getTransferKey({ workspaceId }) {
      assertWorkspaceId(workspaceId);
      await assertImporting(sql, workspaceId);
      return { publicKey: boxKeyOf(keys, purposeOf(workspaceId)) };
    },
    async sealSecrets({ workspaceId, publicKey, after }) {
      assertWorkspaceId(workspaceId);
      if (publicKey.length !== 32) throw invalidRequest([{ code: "invalid", path: "/publicKey" }]);
      if (!(await isFrozen(sql, workspaceId))) throw conflict("invalid_transition");
      const { content, next = "" } = await read(workspaceId, after);
      const subject = { type: "workspace", id: workspaceId } as const;
      const action = "workspace.seal_secrets";
      const details = toDetails(publicKey);
      await sql.begin((tx) => appendAudit(tx, [{ action, subject, workspaceId, details }]));
      const text = JSON.stringify(content);
      return { sealed: sealBox(publicKey, purposeOf(workspaceId), text), next };
    },
    async openSecrets({ workspaceId, sealed }) {
      assertWorkspaceId(workspaceId);
      const content = open(keys, workspaceId, sealed);
      const details = toDetails(boxKeyOf(keys, purposeOf(workspaceId)));
      await sql.begin(async (tx) => {
        await assertImporting(tx, workspaceId);
        await write(tx, workspaceId, content);
        await appendState(tx, workspaceId, { action: "workspace.open_secrets", details });
      });
      return {};
    },
  };
}
