import { setTimeout as sleep } from "node:timers/promises";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Account } from "@postrider/contracts/accounts/v1/account_pb";
import { AccountService } from "@postrider/contracts/accounts/v1/account_service_pb";
import {
  AuthorizationService,
  type GetAuthorizationResponse,
  type IssueConnectLinkResponse,
} from "@postrider/contracts/accounts/v1/authorization_service_pb";
import { isUnanswered, ServiceError, type Violation } from "@postrider/shared/errors";
import { required, toInstant } from "#src/answers.ts";
import {
  type Arguments,
  findInteger,
  findText,
  getPositional,
  getText,
  type Result,
  type Terminal,
} from "#src/command.ts";
import { CommandFailure, UsageError } from "#src/failures.ts";
import type { Services } from "#src/services.ts";
import { formatTable } from "#src/table.ts";

const POLL_MS = 500;
/** Time limit of one read. If a restarting service does not answer in time, the tool asks again. */
const LOOK_MS = 5_000;

function describeMissing({ username, permissions }: Account): readonly string[] {
  const { missing = [], missingScopes = [] } = permissions ?? {};
  if (missing.length === 0) return [];
  return [
    `${username} lacks the permission for ${missing.join(", ")} (${missingScopes.join(", ")}); connect it again and leave all permissions selected`,
  ];
}

function toResult(accounts: readonly Account[], isList: boolean): Result {
  const connected = accounts.map(({ id, platform, username }) => ({ id, platform, username }));
  const rows = connected.map(({ id, platform, username }) => [id, platform, username]);
  const table = formatTable(["id", "platform", "username"], rows, "no accounts");
  const text = [table, ...accounts.flatMap(describeMissing)].join("\n");
  return { json: isList ? { accounts: connected } : (connected[0] ?? {}), text };
}

async function connectSimulated(services: Services, args: Arguments): Promise<Result> {
  const count = findInteger(args, "count", 1);
  const username = findText(args, "username");
  const client = services.client("accounts", AccountService);
  const { accounts } = await client.connectSimulatedAccounts({
    workspaceId: getText(args, "workspace"),
    platform: getPositional(args),
    count: count ?? 1,
    ...(username === undefined ? {} : { username }),
  });
  return toResult(accounts, count !== undefined);
}

/** Returns the credentials for a platform without an authorization page, otherwise undefined. */
async function readCredentials(
  platform: string,
  args: Arguments,
  { readLine }: Terminal,
): Promise<Record<string, string> | undefined> {
  const read = async (what: string): Promise<string> => {
    const secret = await readLine(what);
    if (secret === "") throw new UsageError(`the ${what} is missing; pass it on standard input`);
    return secret;
  };
  if (platform === "bluesky") {
    const identifier = getText(args, "handle");
    return { identifier, appPassword: await read("app password") };
  }
  if (platform === "telegram") {
    const chatId = getText(args, "chat");
    return { chatId, botToken: await read("bot token") };
  }
  return undefined;
}

/**
 * Undefined while the accounts service does not answer; the caller then asks again as long as the
 * link is valid.
 */
async function findProgress(
  services: Services,
  id: string,
): Promise<GetAuthorizationResponse | undefined> {
  try {
    const options = { timeoutMs: LOOK_MS };
    return await services
      .client("accounts", AuthorizationService)
      .getAuthorization({ id }, options);
  } catch (error) {
    if (isUnanswered(error)) return undefined;
    throw error;
  }
}

async function waitForAccounts(
  services: Services,
  platform: string,
  { id, expiresAt }: IssueConnectLinkResponse,
): Promise<readonly Account[]> {
  for (;;) {
    const progress = await findProgress(services, id);
    if (progress?.status === "connected") return progress.accounts;
    if (progress?.status === "failed")
      throw toOutcomeFailure(platform, progress.failure ?? "refused");
    const isOver = expiresAt !== undefined && timestampMs(expiresAt) < Date.now();
    if (progress === undefined && isOver) throw toOutcomeFailure(platform, "unanswered");
    await sleep(POLL_MS);
  }
}

async function connectByLink(
  services: Services,
  args: Arguments,
  { note }: Terminal,
): Promise<Result> {
  const platform = getPositional(args);
  const workspaceId = getText(args, "workspace");
  const client = services.client("accounts", AuthorizationService);
  const authorization = await client.issueConnectLink({ workspaceId, platform });
  const { url } = authorization;
  note({
    json: { url, expiresAt: toInstant(authorization.expiresAt) },
    text: `Open this link in a browser within 10 minutes; it works once:\n\n  ${url}\n`,
  });
  const accounts = await waitForAccounts(services, platform, authorization);
  return toResult(accounts, accounts.length !== 1);
}

/** The option that names the account on a platform without an authorization page. */
const NAME_OPTIONS = { handle: "bluesky", chat: "telegram" } as const;

/**
 * Refuses options that the platform does not use, so that a person notices that they have no
 * effect.
 */
function checkOptions(platform: string, { values }: Arguments): void {
  for (const [option, user] of Object.entries(NAME_OPTIONS))
    if (values[option] !== undefined && platform !== user)
      throw new UsageError(`--${option} is only for ${user}`);
}

async function connectReal(
  services: Services,
  args: Arguments,
  terminal: Terminal,
): Promise<Result> {
  const platform = getPositional(args);
  const workspaceId = getText(args, "workspace");
  checkOptions(platform, args);
  const login = await readCredentials(platform, args, terminal);
  if (login === undefined) return await connectByLink(services, args, terminal);
  const client = services.client("accounts", AccountService);
  const { account } = await client.connectAccount({ workspaceId, platform, login });
  return toResult([required(account)], false);
}

export async function connectAccount(
  services: Services,
  args: Arguments,
  terminal: Terminal,
): Promise<Result> {
  const connect = args.values.simulated === true ? connectSimulated : connectReal;
  try {
    return await connect(services, args, terminal);
  } catch (error) {
    throw toConnectFailure(getPositional(args), error);
  }
}

const NEW_LINK = "run the command again for a new link";

/**
 * What happened and what to do, for each way in which an authorization on the platform's page can
 * fail.
 */
const OUTCOMES: Readonly<Record<string, string>> = {
  denied: `access was denied on the page of the platform, or the app may not ask for the permissions; ${NEW_LINK}`,
  refused: `the platform rejected the authorization: check the id and the secret of the app in the settings of the accounts service; then ${NEW_LINK}`,
  expired: `the link was not used within 10 minutes; ${NEW_LINK}`,
  permission_missing:
    "a permission that publishing needs was not granted; run the command again and leave all permissions selected on the page",
  no_account: "the approved access includes no account that can publish; select one on the page",
  unavailable: `the platform did not answer; ${NEW_LINK}`,
  unanswered:
    "the accounts service did not answer until the link expired; check with `postrider account list` whether the account is connected",
};

function withGuide(message: string, platform: string): string {
  return `${message} (docs/platforms/${platform}.md)`;
}

/**
 * Converts the way in which an authorization failed to the failure of the command, with what the
 * operator can do.
 */
export function toOutcomeFailure(platform: string, outcome: string): CommandFailure {
  const message = OUTCOMES[outcome] ?? OUTCOMES.refused ?? outcome;
  return new CommandFailure(outcome, withGuide(message, platform));
}

function explain({ code, reason, allowed = [] }: Violation, platform: string): string | undefined {
  switch (code) {
    case "login_refused":
      return withGuide(reason ?? "the platform refused the credentials", platform);
    case "platform_unavailable":
      return withGuide(`${reason ?? "the platform did not answer"}; try again later`, platform);
    case "not_configured":
      return withGuide(
        `${platform} is not set up: set the settings of its app and restart the accounts service`,
        platform,
      );
    case "unknown_platform":
      return `there is no platform \`${platform}\`; use one of ${allowed.join(", ")}`;
    default:
      return undefined;
  }
}

export function toConnectFailure(platform: string, error: unknown): unknown {
  if (!(error instanceof ServiceError)) return error;
  if (error.reason === "rate_limited") {
    const seconds = Math.ceil((error.retryAfterMs ?? 1_000) / 1_000);
    const message = `too many attempts to connect accounts; wait ${seconds} s and run the command again`;
    return new CommandFailure(error.reason, message);
  }
  const [violation] = error.violations;
  const message = violation === undefined ? undefined : explain(violation, platform);
  return message === undefined ? error : new CommandFailure(error.reason, message);
}
