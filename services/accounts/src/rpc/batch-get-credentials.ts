import { setTimeout as sleep } from "node:timers/promises";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { AccountRef } from "@postrider/contracts/accounts/v1/account_service_pb";
import type {
  BatchGetCredentialsRequest,
  BatchGetCredentialsResponseSchema,
  CredentialSchema,
} from "@postrider/contracts/accounts/v1/credential_service_pb";
import { invalidRequest, unavailable } from "@postrider/shared/errors";
import { Semaphore } from "@postrider/shared/limits/semaphore";
import { SealError } from "@postrider/shared/secrets/sealing";
import { listCredentials, type CredentialRow } from "#src/db/credentials.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { requireAccountReconnect } from "#src/operations/require-account-reconnect.ts";
import { toAccountKeys } from "#src/rpc/to-account-key.ts";
import { toCredential } from "#src/rpc/to-credential.ts";

const MAX_REFS = 500;
const MAX_CONCURRENT_REFRESHES = 16;
/**
 * Maximum time in milliseconds that a batch of credentials waits for the refresh of expired tokens. A batch does not
 * wait for the refresh of tokens that are still valid.
 */
const MAX_REFRESH_WAIT_MS = 3_000;

/** Refreshes credentials and waits until all token refreshes have ended. Failures are logged, not thrown. */
async function refreshAll(deps: Dependencies, rows: readonly CredentialRow[]): Promise<void> {
  const refreshes = new Semaphore({ total: MAX_CONCURRENT_REFRESHES, maxWaiting: Infinity });
  const refresh = async (row: CredentialRow): Promise<void> => {
    try {
      await deps.refreshTokens(row);
    } catch (error) {
      deps.logger.error(
        { err: error, accountId: row.accountId },
        "the token of an account could not be refreshed; the next use of the account tries again",
      );
    }
  };
  await Promise.all(rows.map((row) => refreshes.run(() => refresh(row))));
}

function isDue(row: CredentialRow): boolean {
  return row.accountStatus === "active" && row.canRefresh && row.isPastHalfLife;
}

async function listFreshCredentials(
  deps: Dependencies,
  request: BatchGetCredentialsRequest,
): Promise<readonly CredentialRow[]> {
  const keys = toAccountKeys(request.refs);
  const rows = await listCredentials(deps.sql, keys);
  const { expired = [], working = [] } = Object.groupBy(rows.filter(isDue), (row) =>
    row.isExpired ? "expired" : "working",
  );
  // BatchGetCredentials does not wait for the refresh of tokens that are still valid. It returns these tokens, and
  // later calls return the new ones.
  if (working.length > 0) void refreshAll(deps, working);
  if (expired.length === 0) return rows;
  const timeout = sleep(MAX_REFRESH_WAIT_MS, undefined, { ref: false });
  await Promise.race([refreshAll(deps, expired), timeout]);
  return await listCredentials(deps.sql, keys);
}

/**
 * Decrypts the credential of an account. A token that cannot be unsealed affects only its own account, which has to be
 * connected again.
 */
async function readCredential(
  deps: Dependencies,
  ref: AccountRef,
  row: CredentialRow | undefined,
): Promise<MessageInitShape<typeof CredentialSchema>> {
  try {
    return toCredential(deps, ref, row);
  } catch (error) {
    if (!(error instanceof SealError) || row === undefined) throw error;
    const { accountId, version } = row;
    const log = { err: error, accountId };
    if (!error.isBroken) {
      deps.logger.error(
        log,
        "a stored token cannot be unsealed because its key is missing; add the key to CREDENTIAL_KEYS of this process",
      );
      // While an operator rolls out a new sealing key, other replicas may already have the key, so the caller may try
      // again.
      throw unavailable(error);
    }
    deps.logger.error(
      log,
      "a stored token is damaged and cannot be unsealed; connect the account again",
    );
    await requireAccountReconnect(deps, row, version);
    return toCredential(deps, ref, { ...row, accountStatus: "reconnect_required" });
  }
}

export async function batchGetCredentials(
  deps: Dependencies,
  request: BatchGetCredentialsRequest,
): Promise<MessageInitShape<typeof BatchGetCredentialsResponseSchema>> {
  if (request.refs.length > MAX_REFS) throw invalidRequest([{ code: "too_many", path: "/refs" }]);
  const rows = await listFreshCredentials(deps, request);
  const rowByKey = new Map(rows.map((row) => [`${row.workspaceId}/${row.accountId}`, row]));
  const credentials = await Promise.all(
    request.refs.map((ref) =>
      readCredential(deps, ref, rowByKey.get(`${ref.workspaceId}/${ref.accountId}`)),
    ),
  );
  return { credentials };
}
