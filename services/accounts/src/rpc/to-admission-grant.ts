import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { AdmissionGrantSchema } from "@postrider/contracts/accounts/v1/admission_service_pb";
import type { AdmissionRow } from "#src/db/request-budgets.ts";
import { DEFAULT_REQUESTS_PER_MINUTE } from "#src/domain/limits.ts";
import { emptyForMs } from "#src/domain/share-grant.ts";

/**
 * Time in milliseconds for which a gateway may reuse an answer of `Admit`. It is short, so that a revoked API key or a
 * new limit takes effect everywhere within 5 s.
 */
const TTL_MS = 3_000;

/**
 * Returns the answer to one admission query.
 *
 * @param row Undefined when the API key is unknown, expired or revoked. @param granted Number of requests that the
 *   query gets from the request budget of its workspace.
 */
export function toAdmissionGrant(
  row: AdmissionRow | undefined,
  granted: number,
): MessageInitShape<typeof AdmissionGrantSchema> {
  if (row === undefined) return { ttlMs: TTL_MS };
  const { keyId, scopes, workspaceCount, workspaceIds, expiresAt, workspaceId } = row;
  const key = {
    id: keyId,
    scopes: [...scopes],
    workspaceCount,
    workspaceIds: [...workspaceIds],
    ...(expiresAt === null ? {} : { expiresAt: timestampFromDate(expiresAt) }),
  };
  if (workspaceId === null) return { key, ttlMs: TTL_MS };
  const requestsPerMinute = row.requestsPerMinute ?? DEFAULT_REQUESTS_PER_MINUTE;
  const tokens = row.tokens ?? 0;
  return {
    key,
    workspace: { id: workspaceId, verified: row.verified ?? false, requestsPerMinute },
    granted,
    remaining: Math.floor(tokens),
    emptyForMs: emptyForMs(tokens, requestsPerMinute),
    ttlMs: TTL_MS,
  };
}
