import { setTimeout as sleep } from "node:timers/promises";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  BatchGetCredentialsRequest,
  BatchGetCredentialsResponseSchema,
} from "@postrider/contracts/accounts/v1/credential_service_pb";
import { invalidRequest } from "@postrider/shared/errors";
import { Semaphore } from "@postrider/shared/limits/semaphore";
import { listCredentials, type CredentialRow } from "#src/db/credentials.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
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

export async function batchGetCredentials(
  deps: Dependencies,
  request: BatchGetCredentialsRequest,
): Promise<MessageInitShape<typeof BatchGetCredentialsResponseSchema>> {
  if (request.refs.length > MAX_REFS) throw invalidRequest([{ code: "too_many", path: "/refs" }]);
  const rows = await listFreshCredentials(deps, request);
  const rowByKey = new Map(rows.map((row) => [`${row.workspaceId}/${row.accountId}`, row]));
  const credentials = await Promise.all(
    request.refs.map((ref) =>
      toCredential(deps, ref, rowByKey.get(`${ref.workspaceId}/${ref.accountId}`)),
    ),
  );
  return { credentials };
}
