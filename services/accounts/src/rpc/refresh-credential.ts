import { setTimeout as sleep } from "node:timers/promises";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  RefreshCredentialRequest,
  RefreshCredentialResponseSchema,
} from "@postrider/contracts/accounts/v1/credential_service_pb";
import { unavailable } from "@postrider/shared/errors";
import type { AccountKey } from "#src/db/accounts.ts";
import { listCredentials, type CredentialRow } from "#src/db/credentials.ts";
import { toAccountKey } from "./to-account-key.ts";
import type { CredentialDeps } from "#src/rpc/credential-service.ts";
import { markReconnectRequired } from "#src/rpc/require-reconnect.ts";
import { toCredential } from "#src/rpc/to-credential.ts";

/** As long as one call of a token endpoint may take. */
const MAX_WAIT_MS = 15_000;
const POLL_MS = 100;
const RETRY_AFTER_MS = 5_000;

/** Whether the caller has to look for something newer than what was refused. */
function isRefused(row: CredentialRow, refusedVersion: number): boolean {
  return row.accountStatus === "active" && row.version <= refusedVersion;
}

/**
 * Reads the credential until it is newer than the refused one or cannot be renewed, making the refresh itself or waiting
 * for whoever makes it.
 */
async function readNewer(
  deps: CredentialDeps,
  key: AccountKey,
  refusedVersion: number,
): Promise<CredentialRow | undefined> {
  const deadlineAt = performance.now() + MAX_WAIT_MS;
  for (;;) {
    const [row] = await listCredentials(deps.sql, [key]);
    if (row === undefined || !isRefused(row, refusedVersion)) return row;
    if (!row.canRefresh) {
      // Nothing can renew it: the platform's refusal is the last word.
      await markReconnectRequired(deps, key, refusedVersion);
      continue;
    }
    const outcome = await deps.refresher.refresh(row);
    if (outcome === "failed" || performance.now() > deadlineAt)
      throw unavailable(undefined, RETRY_AFTER_MS);
    if (outcome === "busy") await sleep(POLL_MS);
  }
}

export async function refreshCredential(
  deps: CredentialDeps,
  { ref, refusedVersion }: RefreshCredentialRequest,
): Promise<MessageInitShape<typeof RefreshCredentialResponseSchema>> {
  const key = toAccountKey(ref);
  const row = key === undefined ? undefined : await readNewer(deps, key, Number(refusedVersion));
  return { credential: toCredential(deps, ref, row) };
}
