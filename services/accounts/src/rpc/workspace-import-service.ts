import { createHash } from "node:crypto";
import type { ServiceImpl } from "@connectrpc/connect";
import type {
  BeginWorkspaceImportRequest,
  WorkspaceImportService,
} from "@postrider/contracts/accounts/v1/workspace_import_service_pb";
import { conflict, invalidRequest } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import type { Sql, TransactionSql } from "@postrider/shared/postgres";
import { between, type ImportedRow } from "@postrider/shared/workspaces/column-checks";
import { readColumns } from "@postrider/shared/workspaces/import-rows";
import { recordImport } from "@postrider/shared/workspaces/import-state";
import { type ColumnChecks, parseRow } from "@postrider/shared/workspaces/imported-row";
import { EXPORTED_TABLES } from "#src/db/exported-tables.ts";
import {
  endImport,
  findOpenImport,
  type ImportedWorkspace,
  insertEmptyCredentials,
  insertImport,
  insertImportedWorkspace,
  setProgress,
} from "#src/db/workspace-imports.ts";
import { clearRemovesAt } from "#src/db/workspaces.ts";
import { isName } from "#src/domain/names.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { lockUnremoved } from "#src/rpc/delete-workspace.ts";

const SHA256 = /^[\da-f]{64}$/;
/** Of `newId`. Ids of another form have a meaning: the nil id, and the installation's own. */
const WORKSPACE_ID = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[\da-f]{4}-[\da-f]{12}$/;

/** The largest limit that an operator can set. Limits are not counted up. */
const MAX_LIMIT = 2 ** 31 - 1;

const CHECKS: ColumnChecks = {
  requests_per_minute: between(1, MAX_LIMIT),
  monthly_quota: between(0, MAX_LIMIT),
  daily_quota: between(0, MAX_LIMIT),
};

/** The two columns about its deletion say only that the exported workspace was stopped. */
function toWorkspace(row: ImportedRow): ImportedWorkspace | undefined {
  const { id, name, verified, requests_per_minute, monthly_quota, daily_quota, created_at } = row;
  const isValid =
    WORKSPACE_ID.test(String(id)) &&
    typeof name === "string" &&
    isName(name) &&
    typeof verified === "boolean" &&
    typeof created_at === "string";
  if (!isValid) return undefined;
  return {
    id: String(id),
    name,
    verified,
    requestsPerMinute: requests_per_minute as number | null,
    monthlyQuota: monthly_quota as number | null,
    dailyQuota: daily_quota as number | null,
    createdAt: created_at,
  };
}

async function parseWorkspace(
  sql: Sql,
  { workspaceId, row: text }: BeginWorkspaceImportRequest,
): Promise<ImportedWorkspace> {
  const columns = await readColumns(sql, "workspaces", EXPORTED_TABLES.workspaces);
  const parsed = parseRow(text, { columns, workspaceId, owner: "id", checks: CHECKS });
  const workspace = parsed.kind === "row" ? toWorkspace(parsed.row) : undefined;
  if (workspace === undefined) throw invalidRequest([{ code: "invalid", path: "/row" }]);
  return workspace;
}

/** @throws `already_exists` */
async function begin(
  sql: Sql,
  workspace: ImportedWorkspace,
  { manifestSha256, handoverHash: hash }: BeginWorkspaceImportRequest,
) {
  return await sql.begin(async (tx) => {
    if (await insertImportedWorkspace(tx, workspace)) {
      const handoverHash = hash.length === 0 ? null : hash;
      await insertImport(tx, workspace.id, { manifestSha256, handoverHash });
      await recordImport(tx, workspace.id, "workspace.import");
    }
    const stored = await findOpenImport(tx, workspace.id);
    if (stored?.manifestSha256 !== manifestSha256) throw conflict("already_exists");
    return stored;
  });
}

/** @throws `invalid_transition` */
async function assertHandover(
  tx: TransactionSql,
  workspaceId: string,
  { handover, cell }: { readonly handover: Uint8Array; readonly cell: string | undefined },
): Promise<void> {
  const expected = (await findOpenImport(tx, workspaceId))?.handoverHash ?? undefined;
  if (expected === undefined) return;
  const given = createHash("sha256")
    .update(handover)
    .update(cell ?? "")
    .digest();
  if (!given.equals(expected)) throw conflict("invalid_transition");
}

export function createWorkspaceImportService({
  sql,
  cell: own,
}: Pick<Dependencies, "sql" | "cell">): ServiceImpl<typeof WorkspaceImportService> {
  return {
    async beginWorkspaceImport(request) {
      const { manifestSha256, cell } = request;
      if (!SHA256.test(manifestSha256))
        throw invalidRequest([{ code: "invalid", path: "/manifestSha256" }]);
      if (cell !== "" && cell !== own)
        throw invalidRequest([{ code: "other_cell", path: "/cell", allowed: own ? [own] : [] }]);
      const { progress } = await begin(sql, await parseWorkspace(sql, request), request);
      return { rows: { ...progress } };
    },
    async recordWorkspaceImport({ workspaceId, file, rows }) {
      if (!isId(workspaceId) || !(await setProgress(sql, workspaceId, { file, rows })))
        throw conflict("invalid_transition");
      return {};
    },
    async finishWorkspaceImport({ workspaceId, handover }) {
      await sql.begin(async (tx) => {
        await lockUnremoved(tx, workspaceId);
        await assertHandover(tx, workspaceId, { handover, cell: own });
        if (!(await endImport(tx, workspaceId))) throw conflict("invalid_transition");
        await insertEmptyCredentials(tx, workspaceId);
        await clearRemovesAt(tx, workspaceId);
        await recordImport(tx, workspaceId, "workspace.finish_import");
      });
      return {};
    },
  };
}
