import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  DisconnectAccountRequest,
  DisconnectAccountResponseSchema,
} from "@postrider/contracts/accounts/v1/account_service_pb";
import { notFound } from "@postrider/shared/errors";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { disconnectAndRevoke } from "#src/operations/disconnect.ts";
import { toAccountKey } from "#src/rpc/to-account-key.ts";

export async function disconnectAccount(
  deps: Dependencies,
  { ref }: DisconnectAccountRequest,
): Promise<MessageInitShape<typeof DisconnectAccountResponseSchema>> {
  const key = toAccountKey(ref);
  if (key === undefined) throw notFound();
  const revocation = await disconnectAndRevoke(deps, key);
  if (revocation === undefined)
    return { revocation: "not_attempted", reason: "already_disconnected" };
  return revocation.outcome === "unconfirmed"
    ? { revocation: "unconfirmed" }
    : { revocation: "not_attempted", reason: revocation.reason };
}
