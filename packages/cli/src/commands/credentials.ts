import { setTimeout as sleep } from "node:timers/promises";
import { CredentialService } from "@postrider/contracts/accounts/v1/credential_service_pb";
import type { Arguments, Command, Result, Terminal } from "#src/command.ts";
import { CommandFailure } from "#src/failures.ts";
import type { Services } from "#src/services.ts";
import { formatTable } from "#src/table.ts";

/** Number of pages of credentials that are encrypted again between two notes of progress. */
const PAGES_PER_NOTE = 50;
const MAX_ROUNDS = 20;
const ROUND_PAUSE_MS = 500;

function statusOf(configured: boolean, newest: boolean): string {
  if (!configured) return "missing";
  return newest ? "encrypts" : "decrypts";
}

async function listKeys(services: Services): Promise<Result> {
  const answer = await services.client("accounts", CredentialService).listSealingKeys({});
  const keys = answer.keys.map(({ id, configured, newest, credentialCount, unboundCount }) => ({
    id,
    status: statusOf(configured, newest),
    credentials: Number(credentialCount),
    unbound: Number(unboundCount),
  }));
  const rows = keys.map(({ id, status, credentials, unbound }) => [
    id,
    status,
    String(credentials),
    String(unbound),
  ]);
  const table = formatTable(["key", "status", "credentials", "unbound"], rows, "no keys");
  const { unboundAccepted } = answer;
  const text = unboundAccepted
    ? `${table}\n\ntokens that are not bound to their account are accepted; when no process of the previous release runs, end that with \`postrider credentials reseal\``
    : table;
  return { json: { unboundAccepted, keys }, text };
}

/** Goes through all credentials one time, page by page, to encrypt them again. Returns the answer to the last page. */
async function resealOnce(services: Services, { note }: Terminal, before: number) {
  const client = services.client("accounts", CredentialService);
  let resealed = before;
  let total = before;
  for (let [after, page] = ["", 0]; ; page += 1) {
    const answer = await client.resealCredentials({ after });
    total += Number(answer.remaining);
    resealed += answer.resealed;
    const isEnd = answer.after === "";
    if (answer.resealed > 0 && (isEnd || page % PAGES_PER_NOTE === 0))
      note({ json: { resealed, total }, text: `${resealed} of ${total} credentials sealed again` });
    if (isEnd) return { ...answer, resealed };
    ({ after } = answer);
  }
}

/**
 * Encrypts all credentials with the newest key and binds each to its account. After a failure the command can be repeated,
 * and continues with the credentials that are left.
 */
async function reseal(services: Services, _args: Arguments, terminal: Terminal): Promise<Result> {
  let resealed = 0;
  for (let round = 1; round <= MAX_ROUNDS; round += 1) {
    const answer = await resealOnce(services, terminal, resealed);
    const { damaged, locked } = answer;
    ({ resealed } = answer);
    if (locked > 0)
      throw new CommandFailure(
        "key_missing",
        `the key of ${locked} credentials is missing in CREDENTIAL_KEYS of the accounts service; \`postrider credentials keys\` names it. Add it and run the command again`,
      );
    if (answer.finished) return { json: { resealed, damaged }, text: toText(resealed, damaged) };
    // Other transactions changed some credentials while the command sealed them again, so these credentials are not
    // sealed again yet.
    await sleep(ROUND_PAUSE_MS);
  }
  throw new CommandFailure(
    "not_finished",
    `credentials are changed so often that some are left after ${MAX_ROUNDS} rounds; run the command again`,
  );
}

function toText(resealed: number, damaged: number): string {
  const done = `${resealed} credentials sealed again; only tokens that are bound to their account are accepted now`;
  return damaged === 0
    ? done
    : `${done}\n${damaged} credentials cannot be decrypted, because they or their accounts were changed in the database; the log of accounts names the accounts, which must be connected again`;
}

/** Commands about the keys that encrypt stored credentials. */
export const credentialCommands: readonly Command[] = [
  {
    words: "credentials keys",
    synopsis: "",
    summary:
      "list the sealing keys with the number of credentials that need each; a key that is not needed may be removed",
    options: {},
    run: listKeys,
  },
  {
    words: "credentials reseal",
    synopsis: "",
    summary:
      "seal all credentials with the newest key and bound to their accounts, and refuse unbound ones from then on; only when no process of the previous release runs",
    options: {},
    run: reseal,
  },
];
