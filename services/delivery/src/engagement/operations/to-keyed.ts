import type { Idempotency } from "@postrider/contracts/operations/v1/idempotency_pb";
import type { KeyedRequest } from "@postrider/shared/postgres/idempotency";

export function toKeyed(
  operation: string,
  request: { readonly workspaceId: string; readonly idempotency?: Idempotency | undefined },
): KeyedRequest | undefined {
  const { workspaceId, idempotency } = request;
  if (idempotency === undefined) return undefined;
  const { key, fingerprint } = idempotency;
  return { workspaceId, operation, key, fingerprint };
}
