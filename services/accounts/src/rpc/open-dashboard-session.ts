import { randomBytes } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  OpenDashboardSessionRequest,
  OpenDashboardSessionResponseSchema,
} from "@postrider/contracts/accounts/v1/dashboard_service_pb";
import { appendAudit } from "@postrider/shared/audit/append";
import { newId } from "@postrider/shared/ids";
import type { TransactionSql } from "@postrider/shared/postgres";
import { formatApiKey, hashApiKey } from "@postrider/shared/secrets/api-keys";
import {
  deleteReplacedSessions,
  insertSession,
  lockLoginKey,
  takeLink,
  type Login,
} from "#src/db/dashboard-sessions.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { readDashboardSession } from "#src/rpc/get-dashboard-session.ts";

type Response = MessageInitShape<typeof OpenDashboardSessionResponseSchema>;

/** Of one workspace. With one more, the oldest one ends. */
const MAX_SESSIONS = 200;
const MAX_USER_AGENT = 100;

async function findLogin(
  tx: TransactionSql,
  { login }: OpenDashboardSessionRequest,
): Promise<Login | undefined> {
  if (login.case === "linkHash") return await takeLink(tx, login.value);
  return login.case === "keyHash" ? await lockLoginKey(tx, login.value) : undefined;
}

/** Undefined if the request has to name a workspace, or names one that the login does not have. */
function workspaceOf({ workspaceIds }: Login, named: string | undefined): string | undefined {
  if (named !== undefined) return workspaceIds.includes(named) ? named : undefined;
  return workspaceIds.length === 1 ? workspaceIds[0] : undefined;
}

function auditOf(id: string, workspaceId: string, { keyId }: Login, userAgent: string) {
  const actor =
    keyId === undefined
      ? ({ kind: "session", id } as const)
      : ({ kind: "key", id: keyId } as const);
  const subject = { type: "session", id } as const;
  const details = { openedWith: keyId === undefined ? "link" : "key", userAgent };
  return { action: "session.open", subject, workspaceId, details, actor } as const;
}

/**
 * Opens a session with a new token, whatever the browser sent before: a session that an attacker
 * planted in the browser never becomes that of the person who logs in.
 */
export async function openDashboardSession(
  { sql, sessionLimits }: Pick<Dependencies, "sql" | "sessionLimits">,
  request: OpenDashboardSessionRequest,
): Promise<Response> {
  const token = formatApiKey(randomBytes(32), "session");
  const id = newId();
  const userAgent = request.userAgent.slice(0, MAX_USER_AGENT);
  return await sql.begin(async (tx): Promise<Response> => {
    const login = await findLogin(tx, request);
    if (login === undefined) return { outcome: "refused" };
    const workspaceId = workspaceOf(login, request.workspaceId);
    if (workspaceId === undefined && request.workspaceId === undefined)
      return { outcome: "workspace_required", workspaceIds: [...login.workspaceIds] };
    if (workspaceId === undefined) return { outcome: "refused" };
    const replaced = { workspaceId, hash: request.replacedHash, keep: MAX_SESSIONS - 1 };
    await deleteReplacedSessions(tx, replaced);
    const hash = hashApiKey(token);
    const { lifetimeMs } = sessionLimits;
    await insertSession(tx, { ...login, id, hash, workspaceId, userAgent, lifetimeMs });
    await appendAudit(tx, [auditOf(id, workspaceId, login, userAgent)]);
    const opened = await readDashboardSession(tx, sessionLimits, { workspaceId, id });
    return { outcome: "opened", token, ...opened };
  });
}
