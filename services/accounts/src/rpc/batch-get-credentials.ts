import { setTimeout as sleep } from "node:timers/promises";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { AccountRef } from "@postrider/contracts/accounts/v1/account_service_pb";
import type {
  BatchGetCredentialsRequest,
  BatchGetCredentialsResponseSchema,
  CredentialSchema,
} from "@postrider/contracts/accounts/v1/credential_service_pb";
import { invalidRequest, unavailable } from "@postrider/shared/errors";
import { SealError } from "@postrider/shared/secrets/sealing";
import { listCredentials, type CredentialRow } from "#src/db/credentials.ts";
import { toAccountKeys } from "#src/rpc/account-keys.ts";
import type { CredentialDeps } from "#src/rpc/credential-service.ts";
import { mapBounded } from "#src/rpc/map-bounded.ts";
import { markReconnectRequired } from "#src/rpc/require-reconnect.ts";
import { toCredential } from "#src/rpc/to-credential.ts";

const MAX_REFS = 500;
const REFRESHES_AT_ONCE = 16;
/** How long the whole batch waits for tokens that have ended already; the others never wait. */
const MAX_WAIT_MS = 3_000;

/** Begins to renew what is due. Resolves when all of these refreshes have ended; failures are in the log. */
async function renew(deps: CredentialDeps, rows: readonly CredentialRow[]): Promise<void> {
  await mapBounded(rows, REFRESHES_AT_ONCE, async (row) => {
    try {
      await deps.refresher.refresh(row);
    } catch (error) {
      deps.logger.error({ err: error, accountId: row.accountId }, "refresh failed");
    }
  });
}

function isDue(row: CredentialRow): boolean {
  return row.accountStatus === "active" && row.canRefresh && row.isHalfOver;
}

async function readFresh(
  deps: CredentialDeps,
  request: BatchGetCredentialsRequest,
): Promise<readonly CredentialRow[]> {
  const keys = toAccountKeys(request.refs);
  const rows = await listCredentials(deps.sql, keys);
  const due = rows.filter(isDue);
  if (due.length === 0) return rows;
  const over = due.filter((row) => row.isOver);
  // These go on by themselves: their tokens work, so nobody waits for new ones.
  void renew(
    deps,
    due.filter((row) => !row.isOver),
  );
  if (over.length === 0) return rows;
  await Promise.race([renew(deps, over), sleep(MAX_WAIT_MS, undefined, { ref: false })]);
  return await listCredentials(deps.sql, keys);
}

/** One credential that nobody can open is its account's trouble and not the batch's: it must be connected again. */
async function open(
  deps: CredentialDeps,
  ref: AccountRef,
  row: CredentialRow | undefined,
): Promise<MessageInitShape<typeof CredentialSchema>> {
  try {
    return toCredential(deps, ref, row);
  } catch (error) {
    if (!(error instanceof SealError) || row === undefined) throw error;
    const { accountId, version } = row;
    deps.logger.error({ err: error, accountId }, "a credential does not open");
    // A key that only this process lacks may be on its way to it.
    if (!error.isBroken) throw unavailable(error);
    await markReconnectRequired(deps, row, version);
    return toCredential(deps, ref, { ...row, accountStatus: "reconnect_required" });
  }
}

export async function batchGetCredentials(
  deps: CredentialDeps,
  request: BatchGetCredentialsRequest,
): Promise<MessageInitShape<typeof BatchGetCredentialsResponseSchema>> {
  if (request.refs.length > MAX_REFS) throw invalidRequest([{ code: "too_many", path: "/refs" }]);
  const rows = await readFresh(deps, request);
  const byKey = new Map(rows.map((row) => [`${row.workspaceId}/${row.accountId}`, row]));
  const credentials = await Promise.all(
    request.refs.map((ref) => open(deps, ref, byKey.get(`${ref.workspaceId}/${ref.accountId}`))),
  );
  return { credentials };
}
