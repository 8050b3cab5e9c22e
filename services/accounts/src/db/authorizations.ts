import type { ISql, Sql, TransactionSql } from "@postrider/shared/postgres";
import type { RequestOrigin } from "@postrider/shared/telemetry/request-context";
import { doesWork } from "#src/db/working-keys.ts";

/**
 * Status of an authorization: `issued` = the connect link was not opened yet · `opened` = the
 * browser is at the platform · `exchanging` = the browser came back, and its code is being
 * exchanged for tokens · `connected` and `failed` = the authorization has ended.
 */
export type AuthorizationStatus = "issued" | "opened" | "exchanging" | "connected" | "failed";

export interface AuthorizationRow {
  readonly id: string;
  readonly workspaceId: string;
  readonly workspaceName: string;
  readonly platform: string;
  readonly status: AuthorizationStatus;
  readonly failure: string | null;
  readonly accountIds: readonly string[];
  /** Also when the API key or the session that issued the connect link has ended. */
  readonly isExpired: boolean;
}

/** SQL for the condition that the key and the session that issued the connect link `t` work. */
function hasIssuer(sql: ISql) {
  return sql`(
      t.api_key_id is null
      or exists (
        select
        from api_key_workspaces m
        join api_keys k on k.id = m.api_key_id
        where m.api_key_id = t.api_key_id
        and m.workspace_id = t.workspace_id
        and ${doesWork(sql)}
      )
    )
    and (
      t.session_id is null
      or exists (select from dashboard_sessions s where s.id = t.session_id and s.expires_at > now())
    )`;
}

/**
 * Inserts an authorization that expires after 10 minutes, and deletes up to 1,000 authorizations
 * that expired more than a day ago: more could take longer than a statement may.
 *
 * @returns When the authorization expires; undefined when the workspace does not exist.
 */
export async function insertAuthorization(
  sql: ISql,
  authorization: {
    readonly id: string;
    readonly workspaceId: string;
    readonly platform: string;
    readonly linkHash: Uint8Array;
    readonly returnTo: string | undefined;
  },
  { keyId, sessionId }: Pick<RequestOrigin, "keyId" | "sessionId">,
): Promise<Date | undefined> {
  const { id, workspaceId, platform, linkHash, returnTo } = authorization;
  const [row] = await sql<{ expiresAt: Date }[]>`
    with deleted as (
      delete from authorizations
      where id in (
        select id
        from authorizations
        where expires_at < now() - interval '1 day'
        limit 1000
        for update skip locked
      )
    )
    insert into authorizations (
      id, workspace_id, platform, link_hash, return_to, api_key_id, session_id, status, expires_at
    )
    select ${id}, id, ${platform}, ${linkHash}, ${returnTo ?? null}, ${keyId ?? null}, ${sessionId ?? null}, 'issued',
      now() + interval '10 minutes'
    from workspaces
    where id = ${workspaceId}
    returning expires_at`;
  return row?.expiresAt;
}

type KeyColumn = "id" | "link_hash" | "state_hash";

async function findAuthorization(
  sql: ISql,
  column: KeyColumn,
  value: string | Uint8Array,
): Promise<AuthorizationRow | undefined> {
  const [row] = await sql<AuthorizationRow[]>`
    select t.id, t.workspace_id, w.name as workspace_name, t.platform, t.status, t.failure, t.account_ids,
      not (t.expires_at > now() and ${hasIssuer(sql)}) as is_expired
    from authorizations t
    join workspaces w on w.id = t.workspace_id
    where ${sql(`t.${column}`)} = ${value}`;
  return row;
}

export async function findAuthorizationById(
  sql: ISql,
  id: string,
): Promise<AuthorizationRow | undefined> {
  return await findAuthorization(sql, "id", id);
}

type ConnectLink =
  | { readonly kind: "open"; readonly authorization: AuthorizationRow }
  | { readonly kind: "unknown" | "used" | "expired" };

/** Reads a connect link by the hash of its secret, without changing it. */
export async function readConnectLink(sql: ISql, linkHash: Uint8Array): Promise<ConnectLink> {
  const authorization = await findAuthorization(sql, "link_hash", linkHash);
  if (authorization === undefined) return { kind: "unknown" };
  if (authorization.status !== "issued") return { kind: "used" };
  return authorization.isExpired ? { kind: "expired" } : { kind: "open", authorization };
}

export async function findAuthorizationByState(
  sql: ISql,
  stateHash: Uint8Array,
): Promise<AuthorizationRow | undefined> {
  return await findAuthorization(sql, "state_hash", stateHash);
}

/** The secrets that bind an authorization to the browser that opened its connect link. */
export interface BrowserBinding {
  readonly stateHash: Uint8Array;
  readonly browserHash: Uint8Array;
  readonly codeVerifier: string;
}

/**
 * Opens an authorization with its connect link. Returns false when the link is unknown, used or
 * expired. Of several concurrent calls for one link, exactly one returns true.
 */
export async function openAuthorization(
  sql: ISql,
  linkHash: Uint8Array,
  { stateHash, browserHash, codeVerifier }: BrowserBinding,
): Promise<boolean> {
  const rows = await sql`
    update authorizations t
    set status = 'opened',
      state_hash = ${stateHash},
      browser_hash = ${browserHash},
      code_verifier = ${codeVerifier}
    where link_hash = ${linkHash}
    and status = 'issued'
    and expires_at > now()
    and ${hasIssuer(sql)}
    returning id`;
  return rows.length > 0;
}

/** An authorization that this process has claimed: only this process may exchange its code. */
export interface ClaimedAuthorization {
  readonly id: string;
  readonly workspaceId: string;
  readonly platform: string;
  readonly codeVerifier: string;
  readonly returnTo: string | null;
}

/**
 * Claims an authorization, so that only one process exchanges its code. Returns undefined when
 * another browser opened the authorization, when it was claimed before, or when it has expired.
 */
export async function claimAuthorization(
  sql: Sql,
  stateHash: Uint8Array,
  browserHash: Uint8Array,
): Promise<ClaimedAuthorization | undefined> {
  const [row] = await sql<ClaimedAuthorization[]>`
    update authorizations t
    set status = 'exchanging'
    where state_hash = ${stateHash}
    and browser_hash = ${browserHash}
    and status = 'opened'
    and expires_at > now()
    and ${hasIssuer(sql)}
    returning id, workspace_id, platform, code_verifier, return_to`;
  return row;
}

export async function isBrowserOfAuthorization(
  sql: Sql,
  stateHash: Uint8Array,
  browserHash: Uint8Array,
): Promise<boolean> {
  const rows = await sql`
    select 1
    from authorizations
    where state_hash = ${stateHash}
    and browser_hash = ${browserHash}`;
  return rows.length > 0;
}

/**
 * Must run in the transaction that stores the connected accounts. Returns false when the key or the
 * session that issued the connect link has ended while the code was exchanged.
 */
export async function setAuthorizationConnected(
  tx: TransactionSql,
  id: string,
  accountIds: readonly string[],
): Promise<boolean> {
  const { count } = await tx`
    update authorizations t
    set status = 'connected',
      account_ids = ${[...accountIds]}::uuid[],
      code_verifier = null
    where id = ${id}
    and ${hasIssuer(tx)}`;
  return count > 0;
}

/** Changes nothing if it has connected accounts: only the answer of that commit was lost. */
export async function setAuthorizationFailed(
  sql: ISql,
  id: string,
  failure: string,
): Promise<void> {
  await sql`
    update authorizations
    set status = 'failed',
      failure = ${failure},
      code_verifier = null
    where id = ${id}
    and status <> 'connected'`;
}
