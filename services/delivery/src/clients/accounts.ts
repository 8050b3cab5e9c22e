import type { Client } from "@connectrpc/connect";
import type { Account } from "@postrider/contracts/accounts/v1/account_pb";
import type { AccountService } from "@postrider/contracts/accounts/v1/account_service_pb";
import type {
  Credential,
  CredentialService,
} from "@postrider/contracts/accounts/v1/credential_service_pb";
import { unavailable } from "@postrider/shared/errors";
import { LongCalls } from "./long-calls.ts";

export interface AccountsClients {
  readonly credentials: Client<typeof CredentialService>;
  readonly accounts: Client<typeof AccountService>;
}

const TIMEOUT_MS = 5_000;
/**
 * Deadline of an RPC to the accounts service. It is longer than the 15 s for which the accounts
 * service waits for a platform's token endpoint.
 */
const REFRESH_TIMEOUT_MS = 20_000;
/** A token server may be of the account's owner. */
const REFRESHES = new LongCalls();

export interface AccountRef {
  readonly workspaceId: string;
  readonly accountId: string;
}

function toRef({ workspaceId, accountId }: AccountRef): AccountRef {
  return { workspaceId, accountId };
}

/** The accounts service could read no access token of the account. */
const readable = (credential: Credential): Credential | undefined =>
  credential.accountStatus === "unreadable" ? undefined : credential;

/**
 * Requests the current credentials from the accounts service, in the order of the given accounts;
 * undefined for an account whose access token cannot be read at the moment. The delivery service
 * keeps credentials in memory only, while it works on the tasks.
 */
export async function fetchCredentials(
  { credentials: client }: AccountsClients,
  accounts: readonly AccountRef[],
): Promise<readonly (Credential | undefined)[]> {
  const refs = accounts.map(toRef);
  const { credentials } = await client.batchGetCredentials({ refs }, { timeoutMs: TIMEOUT_MS });
  if (credentials.length !== refs.length)
    throw new Error("the accounts service did not return exactly one credential per account");
  return credentials.map(readable);
}

/** @throws ServiceError `unavailable` when its access token cannot be read at the moment. */
export async function fetchCredential(
  clients: AccountsClients,
  account: AccountRef,
): Promise<Credential> {
  const [credential] = await fetchCredentials(clients, [account]);
  if (credential === undefined) throw unavailable(undefined);
  return credential;
}

/**
 * Reads an account from the accounts service; undefined if it is unknown, disconnected or of
 * another workspace.
 */
export async function findConnectedAccount(
  { accounts: client }: AccountsClients,
  account: AccountRef,
): Promise<Account | undefined> {
  const { accounts } = await client.batchGetAccounts(
    { refs: [toRef(account)] },
    { timeoutMs: TIMEOUT_MS },
  );
  return accounts.find(({ status }) => status !== "disconnected");
}

/**
 * Requests from the accounts service an access token that is newer than the one that the platform
 * refused. If the accounts service has none, the account status in the result says why.
 */
export async function refreshCredential(
  { credentials: client }: AccountsClients,
  account: AccountRef,
  refusedVersion: bigint,
): Promise<Credential> {
  const request = { ref: toRef(account), refusedVersion };
  const { credential } = await REFRESHES.run(account.workspaceId, () =>
    client.refreshCredential(request, { timeoutMs: REFRESH_TIMEOUT_MS }),
  );
  const newest = credential && readable(credential);
  if (newest === undefined) throw unavailable(undefined);
  return newest;
}

/**
 * Tells the accounts service that the user must reconnect the account. The accounts service ignores
 * this if it has renewed the access token in the meantime.
 */
export async function requireReconnect(
  { accounts: client }: AccountsClients,
  account: AccountRef,
  credentialVersion: bigint,
): Promise<void> {
  await client.requireReconnect(
    { ref: toRef(account), credentialVersion },
    { timeoutMs: TIMEOUT_MS },
  );
}
