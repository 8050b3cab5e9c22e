import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  GetAccountSettingsRequest,
  GetAccountSettingsResponseSchema,
} from "@postrider/contracts/accounts/v1/account_settings_service_pb";
import { notFound } from "@postrider/shared/errors";
import { findAccountSettings } from "#src/db/account-settings.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { toAccountKey } from "#src/rpc/to-account-key.ts";
import { toAccountSettings } from "#src/rpc/to-account-settings.ts";

export async function getAccountSettings(
  deps: Pick<Dependencies, "sql" | "readAvailable">,
  { ref }: GetAccountSettingsRequest,
): Promise<MessageInitShape<typeof GetAccountSettingsResponseSchema>> {
  const key = toAccountKey(ref);
  const row = key === undefined ? undefined : await findAccountSettings(deps.sql, key);
  if (key === undefined || row === undefined || row.status === "disconnected") throw notFound();
  return { settings: await toAccountSettings(deps, key, row) };
}
