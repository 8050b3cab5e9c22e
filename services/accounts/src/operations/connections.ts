import type {
  AuthorizationConnector,
  Connection,
  EnteredCredentials,
} from "@postrider/platforms/authorization/connector";
import type { AuditActor } from "@postrider/shared/audit/actor";
import { appendAudit, type AuditEntry } from "@postrider/shared/audit/append";
import { invalidRequest, ServiceError, unprocessable } from "@postrider/shared/errors";
import { newId } from "@postrider/shared/ids";
import { appendEvents } from "@postrider/shared/outbox";
import type { TransactionSql } from "@postrider/shared/postgres";
import { type AccountRow, countOwnAccounts, upsertAccounts } from "#src/db/accounts.ts";
import { upsertCredentials } from "#src/db/credentials.ts";
import { assertUnfrozen } from "#src/db/workspace-moves.ts";
import { accountConnected } from "#src/events.ts";
import { toAccountAudit } from "#src/operations/audit-records.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { sealTokens } from "#src/operations/token-sealing.ts";

const CONNECT_TIMEOUT_MS = 15_000;
const RETRY_MS = 1_000;
/**
 * Of a workspace. Lists of accounts are not paged, and each is converted in one piece. Requests at
 * the same time may exceed it by a few.
 */
export const MAX_ACCOUNTS = 1_000;
/** With the disconnected ones of a workspace, past which its lists are read. */
export const MAX_KNOWN_ACCOUNTS = 10_000;

/**
 * Asks the platform which account the entered credentials belong to.
 *
 * @throws ServiceError with a violation whose `reason` says what happened: `invalid_request` with
 *   `login_refused` when the platform refuses the credentials, `unavailable` with
 *   `platform_unavailable` when it does not answer.
 */
export async function fetchConnection(
  connector: AuthorizationConnector,
  credentials: EnteredCredentials,
): Promise<Connection> {
  const result = await connector.connect(credentials, AbortSignal.timeout(CONNECT_TIMEOUT_MS));
  if (result.kind === "connected") return result.connection;
  const { kind, message: reason } = result;
  if (kind === "refused")
    throw invalidRequest([{ code: "login_refused", path: "/platform", reason }]);
  const violations = [{ code: "platform_unavailable", path: "/platform", reason }];
  throw new ServiceError("unavailable", "unavailable", violations, {
    retryAfterMs: RETRY_MS,
    cause: new Error(reason),
  });
}

export interface NewConnections {
  readonly workspaceId: string;
  readonly platform: string;
  readonly connections: readonly Connection[];
}

/**
 * A person who connects accounts through a connect link, and what else is stored with the accounts.
 */
export interface ConnectLinkUse {
  readonly actor: AuditActor;
  readonly alsoStore: (tx: TransactionSql, accountIds: readonly string[]) => Promise<void>;
}

type StoredAccount = Awaited<ReturnType<typeof upsertAccounts>>[number];

function toAuditEntry(
  { id, platform, workspaceId, version, statusBefore }: StoredAccount,
  use: ConnectLinkUse | undefined,
): AuditEntry {
  const action = version === 1 ? "account.connect" : "account.reconnect";
  const details = { platform, before: statusBefore, after: "active" };
  const entry = toAccountAudit(action, { workspaceId, accountId: id }, details);
  return use === undefined ? entry : { ...entry, actor: use.actor };
}

/**
 * An account that is still connected is never refused, nor what is granted together with it.
 *
 * @throws `validation_failed` with `too_many_accounts`.
 */
async function assertRoom(
  tx: TransactionSql,
  workspaceId: string,
  stored: readonly StoredAccount[],
): Promise<void> {
  const { connected, known } = await countOwnAccounts(tx, workspaceId);
  const assertFewer = (actual: number, limit: number, statuses: readonly unknown[]): void => {
    if (actual <= limit || !stored.every(({ statusBefore }) => statuses.includes(statusBefore)))
      return;
    throw unprocessable("validation_failed", [{ code: "too_many_accounts", limit, actual }]);
  };
  assertFewer(connected, MAX_ACCOUNTS, [null, "disconnected"]);
  assertFewer(known, MAX_KNOWN_ACCOUNTS, [null]);
}

/**
 * Stores connected accounts, their credentials, their events and their audit entries in one
 * transaction.
 *
 * @throws `validation_failed` with `too_many_accounts`.
 * @param use Undefined when the accounts are connected without a connect link.
 * @returns The accounts in the order of `connections`, without duplicates.
 */
export async function storeConnections(
  deps: Pick<Dependencies, "sql" | "credentialKeys" | "nudge">,
  { workspaceId, platform, connections }: NewConnections,
  use?: ConnectLinkUse,
): Promise<readonly AccountRow[]> {
  const byExternalId = new Map(connections.map((each) => [each.externalId, each]));
  const stored = await deps.sql.begin(async (tx) => {
    await assertUnfrozen(tx, [workspaceId]);
    const accounts = [...byExternalId.values()].map((each) => ({
      ...each,
      id: newId(),
      permissions: each.tokens.scopes,
    }));
    const rows = await upsertAccounts(tx, workspaceId, platform, accounts);
    await assertRoom(tx, workspaceId, rows);
    const credentials = rows.flatMap((row) => {
      const connection = byExternalId.get(row.externalId);
      if (connection === undefined) return [];
      // The tokens are bound to the values as the database returns them, because decrypting uses
      // the values that the database returns.
      const owner = { ...row, accountId: row.id, attributes: connection.attributes };
      return [sealTokens(deps, owner, connection.tokens)];
    });
    const expiries = await upsertCredentials(tx, workspaceId, credentials);
    const events = rows.map(({ id, version, connectedAt }) =>
      accountConnected({ workspaceId, accountId: id, platform, version, changedAt: connectedAt }),
    );
    await appendEvents(tx, events);
    const entries = rows.map((row) => toAuditEntry(row, use));
    await appendAudit(tx, entries);
    const accountIds = rows.map(({ id }) => id);
    await use?.alsoStore(tx, accountIds);
    return rows.map((row) => ({
      ...row,
      tokenExpiresAt: expiries.get(row.id) ?? null,
      available: null,
    }));
  });
  deps.nudge();
  const rowByExternalId = new Map(stored.map((row) => [row.externalId, row]));
  return [...byExternalId.keys()].flatMap((externalId) => rowByExternalId.get(externalId) ?? []);
}
