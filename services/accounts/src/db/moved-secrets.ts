import { conflict } from "@postrider/shared/errors";
import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import { replaceCredential } from "#src/db/credentials.ts";
import { doesWork } from "#src/db/working-keys.ts";

export interface MovedKey {
  readonly id: string;
  /** SHA-256 of the API key, in hex. */
  readonly hash: string;
  readonly prefix: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly makers: readonly string[];
  readonly expiresAt: string | null;
  readonly createdAt: string;
}

/** Those that work: of those that have ended there may be more than a message takes. */
export async function listMovedKeys(sql: ISql, workspaceId: string): Promise<readonly MovedKey[]> {
  return await sql<MovedKey[]>`
    select k.id, encode(k.hash, 'hex') as hash, k.prefix, k.name, k.scopes, k.makers,
      k.expires_at::text, k.created_at::text
    from api_key_workspaces m
    join api_keys k on k.id = m.api_key_id
    where m.workspace_id = ${workspaceId}
    and ${doesWork(sql)}
    order by k.id`;
}

/**
 * A key that is here already came with another of its workspaces.
 *
 * @throws `row_exists` when an id or a hash is that of another key.
 */
export async function insertMovedKeys(
  tx: TransactionSql,
  workspaceId: string,
  keys: readonly (MovedKey & { readonly importedFrom: string | null })[],
): Promise<void> {
  const rows = keys.map((key) => ({
    id: key.id,
    hash: key.hash,
    prefix: key.prefix,
    name: key.name,
    scopes: key.scopes,
    makers: key.makers,
    imported_from: key.importedFrom,
    expires_at: key.expiresAt,
    created_at: key.createdAt,
  }));
  const given = tx`
    jsonb_to_recordset(${tx.json(rows)}) as given (
      id uuid, hash text, prefix text, name text, scopes text[], makers uuid[], imported_from text,
      expires_at timestamptz, created_at timestamptz
    )`;
  await tx`
    insert into api_keys (id, hash, prefix, name, scopes, makers, imported_from, expires_at, created_at)
    select id, decode(hash, 'hex'), prefix, name, scopes, makers, imported_from, expires_at, created_at
    from ${given}
    on conflict do nothing`;
  // Those with a row of their own, also one that an earlier call has inserted.
  const known = tx`
    select k.id
    from ${given}
    join api_keys k on k.id = given.id and k.hash = decode(given.hash, 'hex')`;
  const [{ count }] = await tx<
    [{ count: number }]
  >`select count(*)::int as count from (${known}) as known`;
  if (count < keys.length) throw conflict("row_exists");
  await tx`
    insert into api_key_workspaces (api_key_id, workspace_id)
    select id, ${workspaceId} from (${known}) as known
    on conflict do nothing`;
}

/** A connected account with its credential, whose tokens are encrypted for this installation. */
export interface MovedCredential {
  readonly accountId: string;
  readonly platform: string;
  readonly externalId: string;
  readonly status: string;
  readonly accessToken: string;
  readonly refreshToken: string | null;
  readonly attributes: Readonly<Record<string, string>>;
  readonly issuedAt: string;
  readonly expiresAt: string | null;
  readonly renewAt: string | null;
}

export async function listMovedCredentials(
  sql: ISql,
  workspaceId: string,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<readonly MovedCredential[]> {
  return await sql<MovedCredential[]>`
    select a.id as account_id, a.platform, a.external_id, a.status, c.access_token, c.refresh_token, c.attributes,
      c.issued_at::text, c.expires_at::text, c.renew_at::text
    from accounts a
    join credentials c on c.account_id = a.id
    where a.workspace_id = ${workspaceId}
    and c.access_token is not null
    and (${after}::uuid is null or a.id > ${after}::uuid)
    order by a.id
    limit ${limit}`;
}

export interface ImportedOwner {
  readonly accountId: string;
  readonly platform: string;
  readonly externalId: string;
}

/** Those of the accounts that were imported. */
export async function listImportedOwners(
  tx: TransactionSql,
  workspaceId: string,
  accountIds: readonly string[],
): Promise<readonly ImportedOwner[]> {
  return await tx<ImportedOwner[]>`
    select id as account_id, platform, external_id
    from accounts
    where workspace_id = ${workspaceId}
    and id = any(${accountIds as string[]}::uuid[])
    order by id
    for no key update`;
}

/** The accounts are connected as they were in the other cell. */
export async function writeMovedCredentials(
  tx: TransactionSql,
  workspaceId: string,
  credentials: readonly Omit<MovedCredential, "platform" | "externalId">[],
): Promise<void> {
  const rows = credentials.map((credential) => ({
    account_id: credential.accountId,
    status: credential.status,
    access_token: credential.accessToken,
    refresh_token: credential.refreshToken,
    attributes: credential.attributes,
    issued_at: credential.issuedAt,
    expires_at: credential.expiresAt,
    renew_at: credential.renewAt,
  }));
  await tx`
    with given as (
      select account_id, status, access_token, refresh_token, attributes, issued_at, expires_at, renew_at
      from jsonb_to_recordset(${tx.json(rows)}) as credential (
        account_id uuid, status text, access_token text, refresh_token text, attributes jsonb, issued_at timestamptz,
        expires_at timestamptz, renew_at timestamptz
      )
    ),
    account as (
      update accounts a
      set status = given.status
      from given
      where a.id = given.account_id
    )
    insert into credentials (
      account_id, workspace_id, access_token, refresh_token, attributes, issued_at, expires_at, renew_at
    )
    select account_id, ${workspaceId}, access_token, refresh_token, attributes, issued_at, expires_at, renew_at
    from given
    order by account_id
    ${replaceCredential(tx)}`;
}
