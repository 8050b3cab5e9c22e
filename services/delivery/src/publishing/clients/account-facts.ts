import type { AccountRef, AccountsClients } from "#src/clients/accounts.ts";

const TIMEOUT_MS = 5_000;

/**
 * Tells the accounts service what the platform offers an account, so that posts are validated by
 * it.
 */
export async function recordAvailable(
  { accounts: client }: AccountsClients,
  { workspaceId, accountId }: AccountRef,
  available: Readonly<Record<string, unknown>>,
): Promise<void> {
  const text = JSON.stringify(available);
  await client.recordAvailable(
    { ref: { workspaceId, accountId }, available: text },
    { timeoutMs: TIMEOUT_MS },
  );
}

/**
 * Tells the accounts service under which id the platform has an account from now on. A repetition
 * changes nothing.
 */
export async function moveAccount(
  { accounts: client }: AccountsClients,
  { workspaceId, accountId }: AccountRef,
  fromExternalId: string,
  toExternalId: string,
): Promise<void> {
  await client.moveAccount(
    { ref: { workspaceId, accountId }, fromExternalId, toExternalId },
    { timeoutMs: TIMEOUT_MS },
  );
}
