import { randomBytes } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type {
  CreateApiKeyRequest,
  CreateApiKeyResponseSchema,
  ListApiKeysRequest,
  ListApiKeysResponseSchema,
  RevokeApiKeyRequest,
  RevokeApiKeyResponseSchema,
} from "@postrider/contracts/accounts/v1/api_key_service_pb";
import { appendAudit } from "@postrider/shared/audit/append";
import {
  invalidRequest,
  notFound,
  ServiceError,
  unprocessable,
  type Violation,
} from "@postrider/shared/errors";
import { assertIds, isId, newId } from "@postrider/shared/ids";
import type { Sql } from "@postrider/shared/postgres";
import { apiKeyPrefix, formatApiKey, hashApiKey } from "@postrider/shared/secrets/api-keys";
import { findContext } from "@postrider/shared/telemetry/request-context";
import {
  type ApiKeyRow,
  countMostKeys,
  insertApiKey,
  listApiKeysOfWorkspace,
  lockKeysOfChain,
  type NewApiKey,
} from "#src/db/api-keys.ts";
import { countMadeKeys, lockGrantor } from "#src/db/grantors.ts";
import { assertUnfrozen } from "#src/db/workspace-moves.ts";
import { countWorkspaces } from "#src/db/workspaces.ts";
import { isName } from "#src/domain/names.ts";
import { parseScopes } from "#src/domain/scopes.ts";
import { toAuditEntries } from "#src/operations/audit-records.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { endKeys, workspacesOf } from "#src/operations/end-keys.ts";
import { toApiKey } from "#src/rpc/to-api-key.ts";

/** JavaScript writes later years in a form that Postgres cannot read. */
const LATEST_MS = Date.parse("9999-12-31T23:59:59.999Z");

/**
 * Returns the time at which a requested API key expires.
 *
 * @throws `invalid_request` for a time that cannot be stored.
 */
function parseExpiry({ expiresAt }: CreateApiKeyRequest): Date | undefined {
  if (expiresAt === undefined) return undefined;
  const date = timestampDate(expiresAt);
  // The comparison is also false for an expiry outside the range of JavaScript's dates, whose time
  // is NaN.
  if (date.getTime() <= LATEST_MS) return date;
  throw invalidRequest([{ code: "out_of_range", path: "/expiresAt" }]);
}

/** Of a workspace. Lists of keys are not paged. */
const MAX_KEYS = 500;
/** That one key makes in its sessions, or the session of a link, with those that they make. */
const MAX_MADE_KEYS = 100;
/** Of a workspace in a day, also those that end at once: their rows stay for a month. */
const MAX_NEW_KEYS = 500;
const RETRY_MS = 3_600_000;

type Asked = Omit<NewApiKey, "grantor">;

function assertFewer(count: number, limit: number): void {
  if (count >= limit)
    throw unprocessable("validation_failed", [{ code: "too_many_keys", limit, actual: count + 1 }]);
}

async function insertAudited(sql: Sql, key: Asked): Promise<ApiKeyRow | undefined> {
  return await sql.begin(async (tx) => {
    await assertUnfrozen(tx, key.workspaceIds);
    const grantor = await lockGrantor(tx, findContext()?.origin ?? {}, key.workspaceIds);
    const { working, recent } = await countMostKeys(tx, key.workspaceIds);
    assertFewer(working, MAX_KEYS);
    if (recent >= MAX_NEW_KEYS)
      throw new ServiceError("conflict", "rate_limited", [], { retryAfterMs: RETRY_MS });
    const [first] = grantor.chain;
    if (first !== undefined) assertFewer(await countMadeKeys(tx, first), MAX_MADE_KEYS);
    const row = await insertApiKey(tx, { ...key, grantor });
    if (row !== undefined) await appendAudit(tx, toAuditEntries("key.create", row));
    return row;
  });
}

/**
 * Only the answer contains the text of the API key; the database contains its hash. A key that a
 * session makes ends with the key that opened the session at the latest, also when that is revoked.
 */
export async function createApiKey(
  { sql, cell }: Pick<Dependencies, "sql" | "cell">,
  request: CreateApiKeyRequest,
): Promise<MessageInitShape<typeof CreateApiKeyResponseSchema>> {
  const violations: Violation[] = [];
  if (!isName(request.name)) violations.push({ code: "invalid_name", path: "/name" });
  const scopes = parseScopes(request.scopes);
  if (scopes === undefined) violations.push({ code: "unknown_scope", path: "/scopes" });
  const workspaceIds = [...new Set(request.workspaceIds)];
  if (workspaceIds.length === 0) violations.push({ code: "required", path: "/workspaceIds" });
  if (scopes === undefined || violations.length > 0) throw invalidRequest(violations);
  const isKnown = workspaceIds.every(isId);
  if (!isKnown || (await countWorkspaces(sql, workspaceIds)) < workspaceIds.length)
    throw notFound();

  const key = formatApiKey(randomBytes(32), "key", cell);
  const row = await insertAudited(sql, {
    id: newId(),
    hash: hashApiKey(key),
    prefix: apiKeyPrefix(key),
    name: request.name,
    scopes,
    workspaceIds,
    expiresAt: parseExpiry(request),
  });
  if (row === undefined) throw invalidRequest([{ code: "in_the_past", path: "/expiresAt" }]);
  return { key, apiKey: toApiKey(row) };
}

export async function listApiKeys(
  { sql, sessionLimits }: Pick<Dependencies, "sql" | "sessionLimits">,
  { workspaceId }: ListApiKeysRequest,
): Promise<MessageInitShape<typeof ListApiKeysResponseSchema>> {
  assertIds(workspaceId);
  const rows = await listApiKeysOfWorkspace(sql, workspaceId, sessionLimits);
  if (rows.length === 0 && (await countWorkspaces(sql, [workspaceId])) === 0) throw notFound();
  return { apiKeys: rows.map(toApiKey) };
}

/**
 * With the keys that it made and that they made: who stole a key may have made others with it.
 * Takes effect within 2 s, when the answers that gateways keep expire.
 */
export async function revokeApiKey(
  { sql }: Pick<Dependencies, "sql">,
  { id, workspaceId }: RevokeApiKeyRequest,
): Promise<MessageInitShape<typeof RevokeApiKeyResponseSchema>> {
  const ended = await sql.begin(async (tx) => {
    const keys = isId(id) ? await lockKeysOfChain(tx, { id, makers: [id] }) : [];
    const named = keys.find((key) => key.id === id);
    if (named === undefined || workspacesOf(named, workspaceId).length === 0) throw notFound();
    return await endKeys(tx, keys, { workspaceId, named });
  });
  return { madeKeys: ended.filter((key) => key.id !== id).map(toApiKey) };
}
