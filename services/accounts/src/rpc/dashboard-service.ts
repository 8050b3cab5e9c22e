import { randomBytes } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  DashboardSessionSchema,
  GetDashboardSessionRequest,
  GetDashboardSessionResponseSchema,
  IssueDashboardLinkRequest,
  IssueDashboardLinkResponseSchema,
  ListDashboardSessionsRequest,
  ListDashboardSessionsResponseSchema,
  OpenDashboardSessionRequest,
  OpenDashboardSessionResponseSchema,
  RevokeDashboardSessionsRequest,
  RevokeDashboardSessionsResponseSchema,
} from "@postrider/contracts/accounts/v1/dashboard_service_pb";
import { appendAudit, type AuditEntry } from "@postrider/shared/audit/append";
import { invalidRequest, notFound } from "@postrider/shared/errors";
import { assertIds, isId, newId } from "@postrider/shared/ids";
import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import { formatApiKey, hashApiKey } from "@postrider/shared/secrets/api-keys";
import { listKeysOfChain, lockKeysOfChain } from "#src/db/api-keys.ts";
import {
  deleteSessions,
  findMovedTo,
  insertLink,
  insertSession,
  listSessions,
  lockLoginKey,
  type Login,
  type SessionLimits,
  type SessionRow,
  takeLink,
} from "#src/db/dashboard-sessions.ts";
import { deleteReplacedSessions, type SessionMaxima } from "#src/db/replaced-sessions.ts";
import { countWorkspaces, listWorkspacesByIds } from "#src/db/workspaces.ts";
import { hashSecret } from "#src/domain/connect-links.ts";
import { parseScopes } from "#src/domain/scopes.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { endKeys, workspacesOf } from "#src/operations/end-keys.ts";
import { newSecret } from "#src/operations/new-secret.ts";
import { toApiKey } from "#src/rpc/to-api-key.ts";
import { toWorkspace } from "#src/rpc/to-workspace.ts";

/** Only the answer contains the login link; the database contains the hash of its secret. */
export async function issueDashboardLink(
  { sql, publicUrl }: Pick<Dependencies, "sql" | "publicUrl">,
  request: IssueDashboardLinkRequest,
): Promise<MessageInitShape<typeof IssueDashboardLinkResponseSchema>> {
  const { workspaceId } = request;
  const scopes = parseScopes(request.scopes);
  if (scopes === undefined) throw invalidRequest([{ code: "unknown_scope", path: "/scopes" }]);
  assertIds(workspaceId);
  const id = newId();
  const secret = newSecret();
  const expiresAt = await sql.begin(async (tx) => {
    const expiry = await insertLink(tx, { id, hash: hashSecret(secret), workspaceId, scopes });
    if (expiry === undefined) throw notFound();
    const subject = { type: "dashboard_link", id } as const;
    await appendAudit(tx, [
      { action: "dashboard_link.issue", subject, workspaceId, details: { scopes } },
    ]);
    return expiry;
  });
  // Browsers do not send the fragment of an address, so that no log on the way contains the secret.
  return { url: `${publicUrl}/app/login#${secret}`, expiresAt: timestampFromDate(expiresAt) };
}

type Response = MessageInitShape<typeof OpenDashboardSessionResponseSchema>;

const MAX_SESSIONS: SessionMaxima = { perKey: 20, perWorkspace: 200 };
const MAX_USER_AGENT = 100;

async function findLogin(
  tx: TransactionSql,
  { login }: OpenDashboardSessionRequest,
): Promise<Login | undefined> {
  if (login.case === "linkHash") return await takeLink(tx, login.value);
  return login.case === "keyHash" ? await lockLoginKey(tx, login.value) : undefined;
}

async function refuse(
  tx: TransactionSql,
  { login, workspaceId }: OpenDashboardSessionRequest,
): Promise<Response> {
  const isKey = login.case === "keyHash";
  return {
    outcome: "refused",
    movedTo: isKey ? await findMovedTo(tx, login.value, workspaceId) : "",
  };
}

/** Undefined if the request has to name a workspace, or names one that the login does not have. */
function workspaceOf({ workspaceIds }: Login, named: string | undefined): string | undefined {
  if (named !== undefined) return workspaceIds.includes(named) ? named : undefined;
  return workspaceIds.length === 1 ? workspaceIds[0] : undefined;
}

/** One entry for the new session, and one for each that had to make room for it. */
function auditOf(
  { id, ended }: { readonly id: string; readonly ended: readonly string[] },
  workspaceId: string,
  { keyId }: Login,
  userAgent: string,
): readonly AuditEntry[] {
  const actor =
    keyId === undefined
      ? ({ kind: "session", id } as const)
      : ({ kind: "key", id: keyId } as const);
  const about = (sessionId: string) =>
    ({ subject: { type: "session", id: sessionId }, workspaceId, actor }) as const;
  const details = { openedWith: keyId === undefined ? "link" : "key", userAgent };
  return [
    { action: "session.open", ...about(id), details },
    ...ended.map(
      (each) =>
        ({ action: "session.revoke", ...about(each), details: { madeRoomFor: id } }) as const,
    ),
  ];
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
    if (login === undefined) return await refuse(tx, request);
    const workspaceId = workspaceOf(login, request.workspaceId);
    if (workspaceId === undefined && request.workspaceId === undefined)
      return { outcome: "workspace_required", workspaceIds: [...login.workspaceIds] };
    if (workspaceId === undefined) return await refuse(tx, request);
    const replaced = { workspaceId, hash: request.replacedHash, keyId: login.keyId };
    const ended = await deleteReplacedSessions(tx, replaced, MAX_SESSIONS);
    const hash = hashApiKey(token);
    const { lifetimeMs } = sessionLimits;
    await insertSession(tx, { ...login, id, hash, workspaceId, userAgent, lifetimeMs });
    await appendAudit(tx, auditOf({ id, ended }, workspaceId, login, userAgent));
    const opened = await readDashboardSession(tx, sessionLimits, { workspaceId, id });
    return { outcome: "opened", token, ...opened };
  });
}

function toSession(row: SessionRow): MessageInitShape<typeof DashboardSessionSchema> {
  const { key, scopes, createdAt, lastSeenAt, expiresAt, ...rest } = row;
  return {
    ...rest,
    scopes: [...scopes],
    createdAt: timestampFromDate(createdAt),
    lastSeenAt: timestampFromDate(lastSeenAt),
    expiresAt: timestampFromDate(expiresAt),
    ...(key === null ? {} : { key }),
  };
}

/** @throws `not_found`, also for a session of another workspace or that has ended. */
async function readDashboardSession(
  sql: ISql,
  limits: SessionLimits,
  { workspaceId, id }: Pick<GetDashboardSessionRequest, "workspaceId" | "id">,
) {
  const [session] = await listSessions(sql, workspaceId, limits, id);
  const [workspace] = await listWorkspacesByIds(sql, [workspaceId]);
  if (session === undefined || workspace === undefined) throw notFound();
  return { session: toSession(session), workspace: toWorkspace(workspace) };
}

export async function getDashboardSession(
  { sql, sessionLimits }: Pick<Dependencies, "sql" | "sessionLimits">,
  request: GetDashboardSessionRequest,
): Promise<MessageInitShape<typeof GetDashboardSessionResponseSchema>> {
  assertIds(request.workspaceId, request.id);
  return await readDashboardSession(sql, sessionLimits, request);
}

export async function listDashboardSessions(
  { sql, sessionLimits }: Pick<Dependencies, "sql" | "sessionLimits">,
  { workspaceId }: ListDashboardSessionsRequest,
): Promise<MessageInitShape<typeof ListDashboardSessionsResponseSchema>> {
  assertIds(workspaceId);
  const rows = await listSessions(sql, workspaceId, sessionLimits);
  if (rows.length === 0 && (await countWorkspaces(sql, [workspaceId])) === 0) throw notFound();
  return { sessions: rows.map(toSession) };
}

/**
 * Takes effect within 2 s, when the answers that gateways keep expire. Keys that were made in the
 * sessions outlive them, unless the request says otherwise: those of a session that has ended are
 * found by its id.
 */
export async function revokeDashboardSessions(
  { sql, sessionLimits }: Pick<Dependencies, "sql" | "sessionLimits">,
  { workspaceId, id, endsKeys }: RevokeDashboardSessionsRequest,
): Promise<MessageInitShape<typeof RevokeDashboardSessionsResponseSchema>> {
  if (!isId(workspaceId) || (id !== undefined && !isId(id))) throw notFound();
  return await sql.begin(async (tx) => {
    if (endsKeys) {
      // Before the sessions, so that this never deadlocks with a key that is being made in one.
      const open = id === undefined ? await listSessions(tx, workspaceId, sessionLimits) : [{ id }];
      await lockKeysOfChain(tx, { makers: open.map((session) => session.id) });
    }
    const ids = await deleteSessions(tx, workspaceId, id ?? null);
    const entries = ids.map((sessionId) => {
      const subject = { type: "session", id: sessionId } as const;
      return { action: "session.revoke", subject, workspaceId } as const;
    });
    await appendAudit(tx, entries);
    const chain = { makers: id === undefined ? ids : [id] };
    const keys = await (endsKeys ? lockKeysOfChain : listKeysOfChain)(tx, chain);
    const ofWorkspace = keys.filter((key) => workspacesOf(key, workspaceId).length > 0);
    if (ids.length + ofWorkspace.length === 0)
      if (id !== undefined || (await countWorkspaces(tx, [workspaceId])) === 0) throw notFound();
    const madeKeys = endsKeys ? await endKeys(tx, ofWorkspace, { workspaceId }) : ofWorkspace;
    return { count: ids.length, madeKeys: madeKeys.map(toApiKey) };
  });
}
