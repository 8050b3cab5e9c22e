import type { Idempotency } from "@postrider/contracts/operations/v1/idempotency_pb";
import { invalidRequest, notFound, type Violation } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import type { ISql } from "@postrider/shared/postgres";
import type { KeyedRequest } from "@postrider/shared/postgres/idempotency";
import { findRule } from "#src/engagement/db/automation-rules.ts";
import {
  type AutomationRule,
  isKeyword,
  MAX_KEYWORDS,
  MAX_MEDIA,
  MAX_MESSAGE_BYTES,
  MAX_NAME_LENGTH,
} from "#src/engagement/domain/automation-rule.ts";
import type { MatchMode } from "#src/engagement/domain/match-comment.ts";
import { isAtMost, isMediaId } from "#src/engagement/domain/text.ts";

/** Throws `invalid_request` with every error. Absent fields are not checked. */
export function assertRule(fields: {
  readonly name?: string | undefined;
  readonly mediaIds?: readonly string[] | null | undefined;
  readonly keywords?: readonly string[] | undefined;
  readonly match?: string | undefined;
  readonly excludeKeywords?: readonly string[] | undefined;
  readonly message?: string | undefined;
}): void {
  const { name, mediaIds, keywords, match, excludeKeywords, message } = fields;
  const faults = [
    ...faultOf("/name", name, (text) => text.trim() !== "" && isAtMost(text, MAX_NAME_LENGTH)),
    ...(mediaIds === null ? [] : faultOf("/mediaIds", mediaIds, areMediaIds)),
    ...faultOf("/keywords", keywords, (words) => words.length > 0 && words.length <= MAX_KEYWORDS),
    ...faultsOfWords("/keywords", keywords),
    ...faultOf("/match", match, isMatchMode),
    ...faultOf("/excludeKeywords", excludeKeywords, (words) => words.length <= MAX_KEYWORDS),
    ...faultsOfWords("/excludeKeywords", excludeKeywords),
    ...(message === undefined ? [] : faultsOfMessage(message)),
  ];
  if (faults.length > 0) throw invalidRequest(faults);
}

export function isMatchMode(text: string): text is MatchMode {
  return text === "any" || text === "all" || text === "exact";
}

function faultOf<T>(
  path: string,
  value: T | undefined,
  isValid: (value: T) => boolean,
): readonly Violation[] {
  return value === undefined || isValid(value) ? [] : [{ code: "invalid", path }];
}

function areMediaIds(ids: readonly string[]): boolean {
  return ids.every(isMediaId) && ids.length <= MAX_MEDIA && new Set(ids).size === ids.length;
}

function faultsOfWords(path: string, words: readonly string[] | undefined): readonly Violation[] {
  return (words ?? []).flatMap((word, index) =>
    isKeyword(word) ? [] : [{ code: "invalid", path: `${path}/${index}` }],
  );
}

function faultsOfMessage(message: string): readonly Violation[] {
  const bytes = Buffer.byteLength(message);
  if (bytes > MAX_MESSAGE_BYTES)
    return [{ code: "invalid", path: "/message", limit: MAX_MESSAGE_BYTES, actual: bytes }];
  return message.trim() === "" ? [{ code: "invalid", path: "/message" }] : [];
}

export function toKeyed(
  operation: string,
  request: { readonly workspaceId: string; readonly idempotency?: Idempotency | undefined },
): KeyedRequest | undefined {
  const { workspaceId, idempotency } = request;
  if (idempotency === undefined) return undefined;
  const { key, fingerprint } = idempotency;
  return { workspaceId, operation, key, fingerprint };
}

/** @throws `not_found` for an unknown or revoked rule, and for a malformed id of media. */
export async function getLiveRule(
  sql: ISql,
  request: { readonly workspaceId: string; readonly ruleId: string; readonly mediaId: string },
): Promise<AutomationRule> {
  const { workspaceId, ruleId, mediaId } = request;
  if (!isId(workspaceId) || !isId(ruleId) || !isMediaId(mediaId)) throw notFound();
  const rule = await findRule(sql, workspaceId, ruleId);
  if (rule === undefined || rule.status === "revoked") throw notFound();
  return rule;
}
