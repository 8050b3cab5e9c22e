import type { ISql, Sql, TransactionSql } from "@postrider/shared/postgres";

/** `opened` = the browser is at the platform; `exchanging` = it came back, and its code is being spent. */
export type TicketStatus = "issued" | "opened" | "exchanging" | "connected" | "failed";

/** A link by which somebody connects accounts. */
export interface TicketRow {
  readonly id: string;
  readonly workspaceId: string;
  readonly workspaceName: string;
  readonly platform: string;
  readonly status: TicketStatus;
  readonly failure: string | null;
  readonly accountIds: readonly string[];
  readonly expiresAt: Date;
  readonly isOver: boolean;
}

/** Makes a ticket that lives 10 minutes; undefined when there is no such workspace. */
export async function insertTicket(
  sql: Sql,
  ticket: {
    readonly id: string;
    readonly workspaceId: string;
    readonly platform: string;
    readonly hash: Uint8Array;
  },
): Promise<Date | undefined> {
  const [row] = await sql<{ expiresAt: Date }[]>`
    with forgotten as (
      delete from oauth_tickets
      where expires_at < now() - interval '1 day'
    )
    insert into oauth_tickets (id, workspace_id, platform, ticket_hash, status, expires_at)
    select ${ticket.id}, id, ${ticket.platform}, ${ticket.hash}, 'issued', now() + interval '10 minutes'
    from workspaces
    where id = ${ticket.workspaceId}
    returning expires_at`;
  return row?.expiresAt;
}

type Column = "id" | "ticket_hash" | "state_hash";

async function findTicket(
  sql: ISql,
  column: Column,
  value: string | Uint8Array,
): Promise<TicketRow | undefined> {
  const [row] = await sql<TicketRow[]>`
    select t.id, t.workspace_id, w.name as workspace_name, t.platform, t.status, t.failure, t.account_ids,
      t.expires_at, t.expires_at <= now() as is_over
    from oauth_tickets t
    join workspaces w on w.id = t.workspace_id
    where ${sql(`t.${column}`)} = ${value}`;
  return row;
}

export async function findTicketById(sql: ISql, id: string): Promise<TicketRow | undefined> {
  return await findTicket(sql, "id", id);
}

export async function findTicketByHash(
  sql: ISql,
  hash: Uint8Array,
): Promise<TicketRow | undefined> {
  return await findTicket(sql, "ticket_hash", hash);
}

export async function findTicketByState(
  sql: ISql,
  stateHash: Uint8Array,
): Promise<TicketRow | undefined> {
  return await findTicket(sql, "state_hash", stateHash);
}

/** What binds an authorization to the browser that began it. */
export interface OpenedTicket {
  readonly hash: Uint8Array;
  readonly stateHash: Uint8Array;
  readonly browserHash: Uint8Array;
  /** Sealed. */
  readonly codeVerifier: string;
}

/** Spends a link; false when it is unknown, spent or over. Of several who open it at once, one succeeds. */
export async function openTicket(sql: Sql, opened: OpenedTicket): Promise<boolean> {
  const rows = await sql`
    update oauth_tickets
    set status = 'opened',
      state_hash = ${opened.stateHash},
      browser_hash = ${opened.browserHash},
      code_verifier = ${opened.codeVerifier}
    where ticket_hash = ${opened.hash}
    and status = 'issued'
    and expires_at > now()
    returning id`;
  return rows.length > 0;
}

/** What is needed to spend a code. */
export interface ClaimedTicket {
  readonly id: string;
  readonly workspaceId: string;
  readonly platform: string;
  /** Sealed. */
  readonly codeVerifier: string;
}

/** Takes the one turn that an authorization has; undefined when it is not this browser's, was taken, or is over. */
export async function claimTicket(
  sql: Sql,
  stateHash: Uint8Array,
  browserHash: Uint8Array,
): Promise<ClaimedTicket | undefined> {
  const [row] = await sql<ClaimedTicket[]>`
    update oauth_tickets
    set status = 'exchanging'
    where state_hash = ${stateHash}
    and browser_hash = ${browserHash}
    and status = 'opened'
    and expires_at > now()
    returning id, workspace_id, platform, code_verifier`;
  return row;
}

/** Whether the browser is the one that opened the link. */
export async function isTicketBrowser(
  sql: Sql,
  stateHash: Uint8Array,
  browserHash: Uint8Array,
): Promise<boolean> {
  const rows = await sql`
    select 1
    from oauth_tickets
    where state_hash = ${stateHash}
    and browser_hash = ${browserHash}`;
  return rows.length > 0;
}

/** In the transaction that connects the accounts. */
export async function setTicketConnected(
  tx: TransactionSql,
  id: string,
  accountIds: readonly string[],
): Promise<void> {
  await tx`
    update oauth_tickets
    set status = 'connected',
      account_ids = ${[...accountIds]}::uuid[],
      code_verifier = null
    where id = ${id}`;
}

export async function setTicketFailed(sql: ISql, id: string, failure: string): Promise<void> {
  await sql`
    update oauth_tickets
    set status = 'failed',
      failure = ${failure},
      code_verifier = null
    where id = ${id}`;
}
