import { setTimeout as sleep } from "node:timers/promises";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { AccountRef } from "@postrider/contracts/accounts/v1/account_service_pb";
import type {
  BatchGetCredentialsRequest,
  BatchGetCredentialsResponseSchema,
  CredentialSchema,
  ListSealingKeysResponseSchema,
  RefreshCredentialRequest,
  RefreshCredentialResponseSchema,
} from "@postrider/contracts/accounts/v1/credential_service_pb";
import { invalidRequest, unavailable } from "@postrider/shared/errors";
import type { AccountKey } from "#src/db/accounts.ts";
import { type CredentialRow, listCredentials } from "#src/db/credentials.ts";
import { listSealingKeyUses } from "#src/db/sealing-keys.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { listFreshCredentials } from "#src/operations/list-fresh-credentials.ts";
import {
  endUnusableToken,
  requireAccountReconnect,
} from "#src/operations/require-account-reconnect.ts";
import { unsealToken } from "#src/operations/token-sealing.ts";
import { toAccountKey, toAccountKeys } from "#src/rpc/to-account-key.ts";

/**
 * Converts a stored credential to its RPC message.
 *
 * @throws SealError when the access token cannot be decrypted.
 */
function toMessage(
  deps: Pick<Dependencies, "credentialKeys">,
  ref: AccountRef | undefined,
  row: CredentialRow | undefined,
): MessageInitShape<typeof CredentialSchema> {
  const { workspaceId = "", accountId = "" } = ref ?? {};
  const named = { ref: { workspaceId, accountId } };
  if (row === undefined) return { ...named, accountStatus: "unknown" };
  const { accessToken } = row;
  const isUsable = row.accountStatus === "active" && accessToken !== null;
  return {
    ...named,
    accountStatus: row.accountStatus,
    externalId: row.externalId,
    username: row.username,
    accessToken: isUsable ? unsealToken(deps, row, "access_token", accessToken) : "",
    attributes: { ...row.attributes },
    version: BigInt(row.version),
    ...(row.expiresAt === null ? {} : { expiresAt: timestampFromDate(row.expiresAt) }),
  };
}

/**
 * Converts a stored credential to its RPC message. The message contains the access token only while
 * the account is active. An access token that was altered makes the account need a reconnect. One
 * whose key is missing is unreadable for a time: while an operator rolls out a new key, other
 * replicas may already have it. Neither affects the other accounts of the request.
 */
async function toCredential(
  deps: Pick<Dependencies, "sql" | "logger" | "nudge" | "credentialKeys">,
  ref: AccountRef | undefined,
  row: CredentialRow | undefined,
): Promise<MessageInitShape<typeof CredentialSchema>> {
  try {
    return toMessage(deps, ref, row);
  } catch (error) {
    if (row === undefined) throw error;
    const reason = await endUnusableToken(deps, row, error);
    const message = toMessage(deps, ref, { ...row, accountStatus: "reconnect_required" });
    return reason === "missing_key" ? { ...message, accountStatus: "unreadable" } : message;
  }
}

const MAX_REFS = 500;

export async function batchGetCredentials(
  deps: Dependencies,
  request: BatchGetCredentialsRequest,
): Promise<MessageInitShape<typeof BatchGetCredentialsResponseSchema>> {
  if (request.refs.length > MAX_REFS) throw invalidRequest([{ code: "too_many", path: "/refs" }]);
  const rows = await listFreshCredentials(deps, toAccountKeys(request.refs));
  const rowByKey = new Map(rows.map((row) => [`${row.workspaceId}/${row.accountId}`, row]));
  const credentials = await Promise.all(
    request.refs.map((ref) =>
      toCredential(deps, ref, rowByKey.get(`${ref.workspaceId}/${ref.accountId}`)),
    ),
  );
  return { credentials };
}

/** Then follow the keys that encrypted stored tokens but are not configured. */
export async function listSealingKeys({
  sql,
  credentialKeys,
}: Pick<Dependencies, "sql" | "credentialKeys">): Promise<
  MessageInitShape<typeof ListSealingKeysResponseSchema>
> {
  const uses = await listSealingKeyUses(sql);
  const configured = credentialKeys.map(({ id }) => id);
  const used = new Set(uses.map(({ keyId }) => keyId));
  const missing = [...used].filter((id) => !configured.includes(id)).toSorted();
  const keys = [...configured, ...missing].map((id, index) => ({
    id,
    configured: configured.includes(id),
    newest: index === 0 && configured.length > 0,
    credentialCount: BigInt(
      uses.reduce((sum, { keyId, credentials }) => (keyId === id ? sum + credentials : sum), 0),
    ),
  }));
  return { keys };
}

/** How long another process may refresh the token; a token endpoint may take this long. */
const MAX_WAIT_MS = 15_000;
const POLL_INTERVAL_MS = 100;
const RETRY_AFTER_MS = 5_000;

function isStillRefused(row: CredentialRow, refusedVersion: number): boolean {
  return row.accountStatus === "active" && row.version <= refusedVersion;
}

/**
 * Waits until the stored credential is newer than the refused one, or until the account cannot be
 * used. Meanwhile refreshes the credential, or polls the database while another process refreshes
 * it.
 */
async function waitForNewer(
  deps: Dependencies,
  key: AccountKey,
  refusedVersion: number,
): Promise<CredentialRow | undefined> {
  const deadlineAt = performance.now() + MAX_WAIT_MS;
  for (;;) {
    const [row] = await listCredentials(deps.sql, [key]);
    if (row === undefined || !isStillRefused(row, refusedVersion)) return row;
    if (!row.canRefresh) {
      await requireAccountReconnect(deps, key, refusedVersion);
      continue;
    }
    const outcome = await deps.refreshTokens(row);
    if (outcome === "failed" || performance.now() > deadlineAt)
      throw unavailable(undefined, RETRY_AFTER_MS);
    if (outcome === "busy") await sleep(POLL_INTERVAL_MS);
  }
}

export async function refreshCredential(
  deps: Dependencies,
  { ref, refusedVersion }: RefreshCredentialRequest,
): Promise<MessageInitShape<typeof RefreshCredentialResponseSchema>> {
  const key = toAccountKey(ref);
  const row = key === undefined ? undefined : await waitForNewer(deps, key, Number(refusedVersion));
  return { credential: await toCredential(deps, ref, row) };
}
