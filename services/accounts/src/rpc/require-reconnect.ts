import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  RequireReconnectRequest,
  RequireReconnectResponseSchema,
} from "@postrider/contracts/accounts/v1/account_service_pb";
import { notFound } from "@postrider/shared/errors";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { requireAccountReconnect } from "#src/operations/require-account-reconnect.ts";
import { toAccountKey } from "#src/rpc/to-account-key.ts";

export async function requireReconnect(
  deps: Pick<Dependencies, "sql" | "nudge">,
  { ref, credentialVersion }: RequireReconnectRequest,
): Promise<MessageInitShape<typeof RequireReconnectResponseSchema>> {
  const key = toAccountKey(ref);
  if (key === undefined) throw notFound();
  await requireAccountReconnect(deps, key, Number(credentialVersion));
  return {};
}
