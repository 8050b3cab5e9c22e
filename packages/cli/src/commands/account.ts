import type { Account } from "@postrider/contracts/accounts/v1/account_pb";
import { AccountService } from "@postrider/contracts/accounts/v1/account_service_pb";
import {
  findInteger,
  findText,
  getPositional,
  getText,
  type Arguments,
  type Command,
  type Result,
} from "#src/command.ts";
import { UsageError } from "#src/failures.ts";
import { toInstant } from "#src/instants.ts";
import type { Services } from "#src/services.ts";
import { formatTable } from "#src/table.ts";

function clientOf(services: Services) {
  return services.client("accounts", AccountService);
}

async function connect(services: Services, args: Arguments): Promise<Result> {
  if (args.values.simulated !== true)
    throw new UsageError("only accounts of the simulator can be connected so far: add --simulated");
  const count = findInteger(args, "count", 1);
  const username = findText(args, "username");
  const { accounts } = await clientOf(services).connectSimulatedAccounts({
    workspaceId: getText(args, "workspace"),
    platform: getPositional(args),
    count: count ?? 1,
    ...(username === undefined ? {} : { username }),
  });
  const made = accounts.map(({ id, platform, username: name }) => ({
    id,
    platform,
    username: name,
  }));
  const rows = made.map((account) => [account.id, account.platform, account.username]);
  const text = formatTable(["id", "platform", "username"], rows, "no accounts");
  return { json: count === undefined ? (made[0] ?? {}) : { accounts: made }, text };
}

function toJson(account: Account) {
  return {
    id: account.id,
    platform: account.platform,
    externalId: account.externalId,
    username: account.username,
    displayName: account.displayName,
    status: account.status,
    connectedAt: toInstant(account.connectedAt),
    tokenExpiresAt: toInstant(account.tokenExpiresAt),
  };
}

async function list(services: Services, args: Arguments): Promise<Result> {
  const workspaceId = getText(args, "workspace");
  const answer = await clientOf(services).listAccounts({ workspaceId });
  const accounts = answer.accounts.map(toJson);
  const rows = accounts.map((account) => [
    account.id,
    account.platform,
    account.status,
    account.connectedAt ?? "",
    account.username,
  ]);
  const headings = ["id", "platform", "status", "connected", "username"];
  return { json: { accounts }, text: formatTable(headings, rows, "no accounts") };
}

/** Commands about connected accounts. */
export const accountCommands: readonly Command[] = [
  {
    words: "account connect",
    synopsis: "PLATFORM --workspace ID --simulated [--username U] [--count N]",
    summary: "make accounts on the simulator and connect them",
    options: {
      workspace: { type: "string" },
      simulated: { type: "boolean" },
      username: { type: "string" },
      count: { type: "string" },
    },
    positionals: { min: 1, max: 1 },
    run: connect,
  },
  {
    words: "account list",
    synopsis: "--workspace ID",
    summary: "the connected accounts of a workspace, newest first",
    options: { workspace: { type: "string" } },
    run: list,
  },
];
