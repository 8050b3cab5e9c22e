import type { Connection } from "@postrider/platforms/authorization/connector";
import { newId } from "@postrider/shared/ids";
import { appendEvents } from "@postrider/shared/outbox";
import type { TransactionSql } from "@postrider/shared/postgres";
import { upsertAccounts, type AccountRow } from "#src/db/accounts.ts";
import { upsertCredentials } from "#src/db/credentials.ts";
import { accountConnected } from "#src/events.ts";
import { sealTokens } from "#src/rpc/credential-seals.ts";
import type { Deps } from "#src/rpc/deps.ts";

/**
 * Stores accounts that were just connected, their credentials and the events that say so, in one transaction. Returns
 * them in the order of `connections`, each external account once.
 *
 * @param also Goes into the same transaction, with the ids of the accounts.
 */
export async function storeConnections(
  deps: Pick<Deps, "sql" | "credentialKeys" | "nudge">,
  workspaceId: string,
  platform: string,
  connections: readonly Connection[],
  also: (tx: TransactionSql, accountIds: readonly string[]) => Promise<void> = async () => {},
): Promise<readonly AccountRow[]> {
  const byExternalId = new Map(connections.map((each) => [each.externalId, each]));
  const stored = await deps.sql.begin(async (tx) => {
    const fresh = [...byExternalId.values()].map((each) => ({ ...each, id: newId() }));
    const rows = await upsertAccounts(tx, workspaceId, platform, fresh);
    const credentials = rows.flatMap(({ id, externalId }) => {
      const connection = byExternalId.get(externalId);
      if (connection === undefined) return [];
      return [sealTokens(deps, id, connection.tokens, connection.attributes)];
    });
    const expiries = await upsertCredentials(tx, workspaceId, credentials);
    await appendEvents(
      tx,
      rows.map(({ id, version, connectedAt }) =>
        accountConnected({ workspaceId, accountId: id, platform, version, changedAt: connectedAt }),
      ),
    );
    await also(
      tx,
      rows.map(({ id }) => id),
    );
    return rows.map((row) => ({ ...row, tokenExpiresAt: expiries.get(row.id) ?? null }));
  });
  deps.nudge();
  const byId = new Map(stored.map((row) => [row.externalId, row]));
  return [...byExternalId.keys()].flatMap((externalId) => byId.get(externalId) ?? []);
}
