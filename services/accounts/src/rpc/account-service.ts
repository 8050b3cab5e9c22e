import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  BatchGetAccountsRequest,
  BatchGetAccountsResponseSchema,
  BatchGetPostingAccountsRequest,
  BatchGetPostingAccountsResponseSchema,
  DisconnectAccountRequest,
  DisconnectAccountResponseSchema,
  ListAccountsRequest,
  ListAccountsResponseSchema,
  RecordAvailableRequest,
  RecordAvailableResponseSchema,
  RequireReconnectRequest,
  RequireReconnectResponseSchema,
} from "@postrider/contracts/accounts/v1/account_service_pb";
import { invalidRequest, notFound } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { setAvailable } from "#src/db/account-settings.ts";
import {
  describePostingAccounts,
  listAccountsByKeys,
  listAccountsOfWorkspace,
} from "#src/db/accounts.ts";
import type { AvailableValues, Dependencies } from "#src/operations/dependencies.ts";
import { disconnectAndRevoke } from "#src/operations/disconnect.ts";
import { requireAccountReconnect } from "#src/operations/require-account-reconnect.ts";
import { toAccount } from "#src/rpc/to-account.ts";
import { toAccountKey, toAccountKeys } from "./to-account-key.ts";

export async function listAccounts(
  deps: Pick<Dependencies, "sql" | "features">,
  { workspaceId }: ListAccountsRequest,
): Promise<MessageInitShape<typeof ListAccountsResponseSchema>> {
  const rows = isId(workspaceId) ? await listAccountsOfWorkspace(deps.sql, workspaceId) : [];
  return { accounts: rows.map((row) => toAccount(row, deps)) };
}

const MAX_REFS = 1_000;

/**
 * Returns accounts by their references. Accounts of another workspace are left out like unknown
 * accounts, so that callers cannot tell them apart.
 */
export async function batchGetAccounts(
  deps: Pick<Dependencies, "sql" | "features">,
  { refs }: BatchGetAccountsRequest,
): Promise<MessageInitShape<typeof BatchGetAccountsResponseSchema>> {
  if (refs.length > MAX_REFS) throw invalidRequest([{ code: "too_many", path: "/refs" }]);
  const rows = await listAccountsByKeys(deps.sql, toAccountKeys(refs));
  return { accounts: rows.map((row) => toAccount(row, deps)) };
}

const MAX_ACCOUNTS = 10_000;

export async function batchGetPostingAccounts(
  deps: Pick<Dependencies, "sql">,
  { workspaces }: BatchGetPostingAccountsRequest,
): Promise<MessageInitShape<typeof BatchGetPostingAccountsResponseSchema>> {
  const refs = workspaces.flatMap(({ workspaceId, accountIds }) =>
    accountIds.map((accountId) => ({ workspaceId, accountId })),
  );
  if (refs.length > MAX_ACCOUNTS) throw invalidRequest([{ code: "too_many", path: "/workspaces" }]);
  return { accounts: await describePostingAccounts(deps.sql, toAccountKeys(refs)) };
}

export async function disconnectAccount(
  deps: Dependencies,
  { ref }: DisconnectAccountRequest,
): Promise<MessageInitShape<typeof DisconnectAccountResponseSchema>> {
  const key = toAccountKey(ref);
  if (key === undefined) throw notFound();
  const revocation = await disconnectAndRevoke(deps, key);
  if (revocation === undefined)
    return { revocation: "not_attempted", reason: "already_disconnected" };
  return revocation.outcome === "unconfirmed"
    ? { revocation: "unconfirmed" }
    : { revocation: "not_attempted", reason: revocation.reason };
}

export async function requireReconnect(
  deps: Pick<Dependencies, "sql" | "nudge">,
  { ref, credentialVersion }: RequireReconnectRequest,
): Promise<MessageInitShape<typeof RequireReconnectResponseSchema>> {
  const key = toAccountKey(ref);
  if (key === undefined) throw notFound();
  await requireAccountReconnect(deps, key, Number(credentialVersion));
  return {};
}

function parseAvailable(text: string): AvailableValues {
  let values: unknown;
  try {
    values = JSON.parse(text);
  } catch {
    throw invalidRequest([{ code: "invalid", path: "/available" }]);
  }
  if (typeof values !== "object" || values === null || Array.isArray(values))
    throw invalidRequest([{ code: "type", path: "/available" }]);
  return values as AvailableValues;
}

export async function recordAvailable(
  { sql }: Pick<Dependencies, "sql">,
  { ref, available }: RecordAvailableRequest,
): Promise<MessageInitShape<typeof RecordAvailableResponseSchema>> {
  const key = toAccountKey(ref);
  const values = parseAvailable(available);
  if (key !== undefined) await setAvailable(sql, key, values);
  return {};
}
