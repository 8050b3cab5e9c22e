import { CredentialService } from "@postrider/contracts/accounts/v1/credential_service_pb";
import type { Command, Result } from "#src/command.ts";
import type { Services } from "#src/services.ts";
import { formatTable } from "#src/table.ts";

function describe(configured: boolean, newest: boolean): string {
  if (!configured) return "missing";
  return newest ? "encrypts" : "decrypts";
}

async function listKeys(services: Services): Promise<Result> {
  const answer = await services.client("accounts", CredentialService).listSealingKeys({});
  const keys = answer.keys.map(({ id, configured, newest, credentialCount }) => ({
    id,
    status: describe(configured, newest),
    credentials: Number(credentialCount),
  }));
  const rows = keys.map(({ id, status, credentials }) => [id, status, String(credentials)]);
  const text = formatTable(["key", "status", "credentials"], rows, "no keys");
  return { json: { keys }, text };
}

/** Commands about the encryption of credentials, which seals everything again by itself under a newer key. */
export const credentialCommands: readonly Command[] = [
  {
    words: "credentials keys",
    synopsis: "",
    summary: "how many credentials need each encryption key; one that none needs may be removed",
    options: {},
    run: listKeys,
  },
];
