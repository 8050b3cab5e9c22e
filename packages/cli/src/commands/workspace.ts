import { ApiKeyService } from "@postrider/contracts/accounts/v1/api_key_service_pb";
import type { Workspace } from "@postrider/contracts/accounts/v1/workspace_pb";
import { WorkspaceService } from "@postrider/contracts/accounts/v1/workspace_service_pb";
import { required, toInstant } from "#src/answers.ts";
import {
  findInteger,
  getPositional,
  getText,
  type Arguments,
  type Command,
  type Result,
} from "#src/command.ts";
import { UsageError } from "#src/failures.ts";
import type { Services } from "#src/services.ts";
import { formatRecord, formatTable } from "#src/table.ts";

function clientOf(services: Services) {
  return services.client("accounts", WorkspaceService);
}

function toJson({ id, name, verified, limits, createdAt }: Workspace) {
  return {
    id,
    name,
    verified,
    requestsPerMinute: limits?.requestsPerMinute ?? null,
    monthlyQuota: limits?.monthlyQuota ?? null,
    dailyQuota: limits?.dailyQuota ?? null,
    createdAt: toInstant(createdAt),
  };
}

function limitText(limit: number | null): string {
  return limit === null ? "default" : String(limit);
}

function toResult(workspace: Workspace | undefined): Result {
  const json = toJson(required(workspace));
  const text = formatRecord({
    id: json.id,
    name: json.name,
    verified: json.verified ? "yes" : "no",
    "requests per minute": limitText(json.requestsPerMinute),
    "monthly quota": limitText(json.monthlyQuota),
    "daily quota": limitText(json.dailyQuota),
  });
  return { json, text };
}

async function create(services: Services, args: Arguments): Promise<Result> {
  const name = getText(args, "name");
  const verified = args.values.verified === true;
  const { workspace } = await clientOf(services).createWorkspace({ name, verified });
  const result = toResult(workspace);
  if (args.values["with-key"] !== true) return result;
  const { key } = await services.client("accounts", ApiKeyService).createApiKey({
    name,
    workspaceIds: [required(workspace).id],
    scopes: ["all"],
  });
  const text = `${result.text}\n\nAPI key with all scopes, which is shown only now: ${key}`;
  return { json: { ...result.json, key }, text };
}

async function list(services: Services): Promise<Result> {
  const { workspaces } = await clientOf(services).listWorkspaces({});
  const json = workspaces.map(toJson);
  const rows = json.map((each) => [
    each.id,
    each.verified ? "yes" : "no",
    limitText(each.requestsPerMinute),
    limitText(each.monthlyQuota),
    limitText(each.dailyQuota),
    each.name,
  ]);
  const headings = ["id", "verified", "req/min", "monthly", "daily", "name"];
  return { json: { workspaces: json }, text: formatTable(headings, rows, "no workspaces") };
}

async function verify(services: Services, args: Arguments): Promise<Result> {
  const { workspace } = await clientOf(services).verifyWorkspace({ id: getPositional(args) });
  return toResult(workspace);
}

async function setLimits(services: Services, args: Arguments): Promise<Result> {
  const requestsPerMinute = findInteger(args, "requests-per-minute", 1);
  const monthlyQuota = findInteger(args, "monthly-quota", 0);
  const dailyQuota = findInteger(args, "daily-quota", 0);
  const limits = {
    ...(requestsPerMinute === undefined ? {} : { requestsPerMinute }),
    ...(monthlyQuota === undefined ? {} : { monthlyQuota }),
    ...(dailyQuota === undefined ? {} : { dailyQuota }),
  };
  if (Object.keys(limits).length === 0)
    throw new UsageError(
      "a limit is missing; give --requests-per-minute, --monthly-quota or --daily-quota",
    );
  const request = { id: getPositional(args), limits };
  const { workspace } = await clientOf(services).setWorkspaceLimits(request);
  const { json, text } = toResult(workspace);
  return { json, text: `${text}\n\nThe limits take effect within 5 s.` };
}

export const workspaceCommands: readonly Command[] = [
  {
    words: "workspace create",
    synopsis: "--name N [--verified] [--with-key]",
    summary: "create a workspace, and with --with-key an API key of it with all scopes",
    run: create,
  },
  {
    words: "workspace list",
    synopsis: "",
    summary: "list all workspaces, newest first",
    run: list,
  },
  {
    words: "workspace verify",
    synopsis: "ID",
    summary: "verify a workspace, which allows it to write posts",
    run: verify,
  },
  {
    words: "workspace set-limits",
    synopsis: "ID [--requests-per-minute N] [--monthly-quota N] [--daily-quota N]",
    summary: "set the given limits; they take effect within 5 s",
    run: setLimits,
  },
];
