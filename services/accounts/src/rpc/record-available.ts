import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  RecordAvailableRequest,
  RecordAvailableResponseSchema,
} from "@postrider/contracts/accounts/v1/account_service_pb";
import { invalidRequest } from "@postrider/shared/errors";
import { setAvailable } from "#src/db/account-settings.ts";
import type { AvailableValues, Dependencies } from "#src/operations/dependencies.ts";
import { toAccountKey } from "#src/rpc/to-account-key.ts";

function parseAvailable(text: string): AvailableValues {
  let values: unknown;
  try {
    values = JSON.parse(text);
  } catch {
    throw invalidRequest([{ code: "invalid", path: "/available" }]);
  }
  if (typeof values !== "object" || values === null || Array.isArray(values))
    throw invalidRequest([{ code: "type", path: "/available" }]);
  return values as AvailableValues;
}

export async function recordAvailable(
  { sql }: Pick<Dependencies, "sql">,
  { ref, available }: RecordAvailableRequest,
): Promise<MessageInitShape<typeof RecordAvailableResponseSchema>> {
  const key = toAccountKey(ref);
  const values = parseAvailable(available);
  if (key !== undefined) await setAvailable(sql, key, values);
  return {};
}
