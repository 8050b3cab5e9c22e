import { setTimeout as sleep } from "node:timers/promises";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  BatchGetCredentialsRequest,
  BatchGetCredentialsResponseSchema,
} from "@postrider/contracts/accounts/v1/credential_service_pb";
import { invalidRequest } from "@postrider/shared/errors";
import { listCredentials, type CredentialRow } from "#src/db/credentials.ts";
import { toAccountKeys } from "#src/rpc/account-keys.ts";
import type { CredentialDeps } from "#src/rpc/credential-service.ts";
import { mapBounded } from "#src/rpc/map-bounded.ts";
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

export async function batchGetCredentials(
  deps: CredentialDeps,
  request: BatchGetCredentialsRequest,
): Promise<MessageInitShape<typeof BatchGetCredentialsResponseSchema>> {
  if (request.refs.length > MAX_REFS) throw invalidRequest([{ code: "too_many", path: "/refs" }]);
  const rows = await readFresh(deps, request);
  const byKey = new Map(rows.map((row) => [`${row.workspaceId}/${row.accountId}`, row]));
  return {
    credentials: request.refs.map((ref) =>
      toCredential(deps, ref, byKey.get(`${ref.workspaceId}/${ref.accountId}`)),
    ),
  };
}
