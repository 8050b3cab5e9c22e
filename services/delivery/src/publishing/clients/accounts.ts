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
/** The platform's token endpoint is asked meanwhile, with a deadline of its own of 15 s. */
const REFRESH_TIMEOUT_MS = 20_000;

export interface AccountRef {
  readonly workspaceId: string;
  readonly accountId: string;
}

function toRef({ workspaceId, accountId }: AccountRef): AccountRef {
  return { workspaceId, accountId };
}

/** The current credentials in the order asked. They are kept for the work at hand and nowhere else. */
export async function fetchCredentials(
  { credentials: client }: AccountsClients,
  accounts: readonly AccountRef[],
): Promise<readonly Credential[]> {
  const refs = accounts.map(toRef);
  const { credentials } = await client.batchGetCredentials({ refs }, { timeoutMs: TIMEOUT_MS });
  if (credentials.length !== refs.length) throw new Error("accounts answered for other accounts");
  return credentials;
}

/** A newer credential than the one the platform refused, or the reason why there is none. */
export async function refreshCredential(
  { credentials: client }: AccountsClients,
  account: AccountRef,
  refusedVersion: bigint,
): Promise<Credential> {
  const { credential } = await client.refreshCredential(
    { ref: toRef(account), refusedVersion },
    { timeoutMs: REFRESH_TIMEOUT_MS },
  );
  if (credential === undefined) throw new Error("accounts answered without a credential");
  return credential;
}

/** Asks for a person to connect the account again; a credential that was renewed meanwhile stays as it is. */
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
