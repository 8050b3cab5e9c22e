import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ApiKey } from "@postrider/contracts/accounts/v1/api_key_pb";
import { ApiKeyService } from "@postrider/contracts/accounts/v1/api_key_service_pb";
import { required, toInstant } from "#src/answers.ts";
import {
  findInstant,
  findText,
  getPositional,
  getText,
  getTexts,
  type Arguments,
  type Command,
  type Result,
} from "#src/command.ts";
import { UsageError } from "#src/failures.ts";
import type { Services } from "#src/services.ts";
import { formatRecord, formatTable } from "#src/table.ts";

function clientOf(services: Services) {
  return services.client("accounts", ApiKeyService);
}

function toJson(key: ApiKey) {
  return {
    id: key.id,
    prefix: key.prefix,
    name: key.name,
    scopes: key.scopes,
    workspaceIds: key.workspaceIds,
    expiresAt: toInstant(key.expiresAt),
    lastUsedAt: toInstant(key.lastUsedAt),
  };
}

/**
 * Returns the scope that limits an agent's API key to drafts if `--mcp draft-only` is given;
 * otherwise no scope.
 */
function readMcpPolicy(args: Arguments): readonly string[] {
  const policy = findText(args, "mcp") ?? "publish";
  if (policy === "publish") return [];
  if (policy === "draft-only") return ["mcp:drafts"];
  throw new UsageError("--mcp is draft-only or publish");
}

async function create(services: Services, args: Arguments): Promise<Result> {
  const expiresAt = findInstant(args, "expires-at");
  const answer = await clientOf(services).createApiKey({
    name: getText(args, "name"),
    workspaceIds: getTexts(args, "workspace"),
    scopes: [
      ...getText(args, "scopes")
        .split(",")
        .map((scope) => scope.trim()),
      ...readMcpPolicy(args),
    ],
    ...(expiresAt === undefined ? {} : { expiresAt: timestampFromDate(expiresAt) }),
  });
  const { key } = answer;
  const { id, name, scopes, workspaceIds, expiresAt: storedExpiry } = required(answer.apiKey);
  const json = { id, key, name, scopes, workspaceIds, expiresAt: toInstant(storedExpiry) };
  const text = formatRecord({
    id,
    key,
    name,
    scopes: scopes.join(","),
    workspaces: workspaceIds.join(", "),
    expires: json.expiresAt ?? "never",
  });
  return { json, text: `${text}\n\nThe key is shown only now; only its hash is stored.` };
}

async function list(services: Services, args: Arguments): Promise<Result> {
  const { apiKeys } = await clientOf(services).listApiKeys({
    workspaceId: getText(args, "workspace"),
  });
  const keys = apiKeys.map(toJson);
  const rows = keys.map((key) => [
    key.id,
    key.prefix,
    key.expiresAt ?? "never",
    key.lastUsedAt ?? "never",
    key.name,
    key.scopes.join(","),
  ]);
  const headings = ["id", "prefix", "expires", "last used", "name", "scopes"];
  return { json: { keys }, text: formatTable(headings, rows, "no keys") };
}

async function revoke(services: Services, args: Arguments): Promise<Result> {
  const id = getPositional(args);
  const { madeKeys } = await clientOf(services).revokeApiKey({ id });
  const made = madeKeys.map((key) => `\n  ${key.id}  ${key.prefix}  ${key.name}`);
  const also = made.length === 0 ? "" : `; so do the keys that it made:${made.join("")}`;
  return {
    json: { id, revoked: true, madeKeys: madeKeys.map(toJson) },
    text: `${id} is revoked; requests with it fail within 5 s${also}`,
  };
}

export const keyCommands: readonly Command[] = [
  {
    words: "key create",
    synopsis:
      "--name N --workspace ID [--workspace ID …] --scopes a,b|all [--mcp draft-only|publish] [--expires-at T]",
    summary: "create an API key and show it once",
    run: create,
  },
  {
    words: "key list",
    synopsis: "--workspace ID",
    summary: "list the API keys of a workspace, newest first",
    run: list,
  },
  {
    words: "key revoke",
    synopsis: "ID",
    summary:
      "revoke an API key and the keys that it made in the dashboard; requests with them fail within 5 s",
    run: revoke,
  },
];
