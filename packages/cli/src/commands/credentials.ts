import { CredentialService } from "@postrider/contracts/accounts/v1/credential_service_pb";
import type { Command, Result } from "#src/command.ts";
import type { Services } from "#src/services.ts";
import { formatTable } from "#src/table.ts";

function statusOf(configured: boolean, newest: boolean): string {
  if (!configured) return "missing";
  return newest ? "encrypts" : "decrypts";
}

async function listKeys(services: Services): Promise<Result> {
  const answer = await services.client("accounts", CredentialService).listSealingKeys({});
  const keys = answer.keys.map(({ id, configured, newest, credentialCount }) => ({
    id,
    status: statusOf(configured, newest),
    credentials: Number(credentialCount),
  }));
  const rows = keys.map(({ id, status, credentials }) => [id, status, String(credentials)]);
  const text = formatTable(["key", "status", "credentials"], rows, "no keys");
  return { json: { keys }, text };
}

export const credentialCommands: readonly Command[] = [
  {
    words: "credentials keys",
    synopsis: "",
    summary:
      "list the sealing keys with the number of credentials that need each; a key that is not needed may be removed",
    run: listKeys,
  },
];
