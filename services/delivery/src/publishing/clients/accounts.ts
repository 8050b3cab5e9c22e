import type { Client } from "@connectrpc/connect";
import type { AccountService } from "@postrider/contracts/accounts/v1/account_service_pb";
import type {
  Credential,
  CredentialService,
} from "@postrider/contracts/accounts/v1/credential_service_pb";

export interface AccountsClients {
  readonly credentials: Client<typeof CredentialService>;
  readonly accounts: Client<typeof AccountService>;
}

const TIMEOUT_MS = 5_000;
/** Deadline of a call to the accounts service: longer than its deadline for a token endpoint, which is 15 s. */
const REFRESH_TIMEOUT_MS = 20_000;

export interface AccountRef {
  readonly workspaceId: string;
  readonly accountId: string;
}

function toRef({ workspaceId, accountId }: AccountRef): AccountRef {
  return { workspaceId, accountId };
}

/**
 * The current credentials, in the order of the accounts. They are kept in memory while the tasks are worked on and are not
 * stored.
 */
export async function fetchCredentials(
  { credentials: client }: AccountsClients,
  accounts: readonly AccountRef[],
): Promise<readonly Credential[]> {
  const refs = accounts.map(toRef);
  const { credentials } = await client.batchGetCredentials({ refs }, { timeoutMs: TIMEOUT_MS });
  if (credentials.length !== refs.length)
    throw new Error("the accounts service did not return exactly one credential per account");
  return credentials;
}

/**
 * A credential newer than the one that the platform refused. If there is none, the account status in the result says why.
 */
export async function refreshCredential(
  { credentials: client }: AccountsClients,
  account: AccountRef,
  refusedVersion: bigint,
): Promise<Credential> {
  const { credential } = await client.refreshCredential(
    { ref: toRef(account), refusedVersion },
    { timeoutMs: REFRESH_TIMEOUT_MS },
  );
  if (credential === undefined) throw new Error("the accounts service returned no credential");
  return credential;
}

/** Marks the account as one that its user must reconnect, unless its credential was renewed in the meantime. */
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
