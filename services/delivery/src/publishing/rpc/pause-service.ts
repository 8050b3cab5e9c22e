import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { PauseSchema, PauseService } from "@postrider/contracts/delivery/v1/pause_service_pb";
import { isPlatformId } from "@postrider/platforms/platform-id";
import { appendAudit } from "@postrider/shared/audit/append";
import { invalidRequest } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import type { TransactionSql } from "@postrider/shared/postgres";
import {
  deletePause,
  findWorkspaceOfAccount,
  insertPause,
  listPauses,
  type PauseRow,
} from "#src/publishing/db/waits.ts";
import type { Dependencies } from "./dependencies.ts";

const KINDS = ["platform", "account", "workspace"] as const;

/** What an operator can pause. */
interface PauseScope {
  readonly kind: (typeof KINDS)[number];
  readonly key: string;
}

/** @throws ServiceError `invalid_request` if such a scope cannot exist. */
function parsePauseScope(request: { kind: string; key: string }): PauseScope {
  const kind = KINDS.find((known) => known === request.kind);
  if (kind === undefined) throw invalidRequest([{ code: "unknown_kind", path: "/kind" }]);
  const isKey = kind === "platform" ? isPlatformId(request.key) : isId(request.key);
  if (!isKey) throw invalidRequest([{ code: "invalid_key", path: "/key" }]);
  return { kind, key: request.key };
}

const MAX_REASON_LENGTH = 500;

function toPause(row: PauseRow): MessageInitShape<typeof PauseSchema> {
  const { kind, key, reason, createdAt } = row;
  const why = reason === null ? {} : { reason };
  return { kind, key, createdAt: timestampFromDate(createdAt), ...why };
}

async function auditPause(
  tx: TransactionSql,
  action: "publishing.pause" | "publishing.resume",
  { kind, key }: PauseScope,
): Promise<void> {
  const ofAccount = kind === "account" ? await findWorkspaceOfAccount(tx, key) : undefined;
  const workspaceId = kind === "workspace" ? key : ofAccount;
  await appendAudit(tx, [{ action, subject: { type: kind, id: key }, workspaceId }]);
}

export function createPauseService({
  sql,
  nudgeClaims,
}: Pick<Dependencies, "sql" | "nudgeClaims">) {
  return {
    async pausePublishing(request) {
      const { kind, key } = parsePauseScope(request);
      const { reason } = request;
      if (reason !== undefined && reason.length > MAX_REASON_LENGTH)
        throw invalidRequest([{ code: "too_long", path: "/reason" }]);
      const pause = await sql.begin(async (tx) => {
        const row = await insertPause(tx, kind, key, reason);
        if (row.isNew) await auditPause(tx, "publishing.pause", { kind, key });
        return row;
      });
      return { pause: toPause(pause) };
    },
    async resumePublishing(request) {
      const { kind, key } = parsePauseScope(request);
      const resumed = await sql.begin(async (tx) => {
        if (!(await deletePause(tx, kind, key))) return false;
        await auditPause(tx, "publishing.resume", { kind, key });
        return true;
      });
      nudgeClaims();
      return { resumed };
    },
    async listPauses() {
      return { pauses: (await listPauses(sql)).map(toPause) };
    },
  } satisfies ServiceImpl<typeof PauseService>;
}
