import type {
  AutomationRule,
  Backfill,
  BackfillItem,
} from "@postrider/contracts/engagement/v1/automation_service_pb";
import { toOptionalInstant } from "@postrider/rest/timestamps";
import type { Static } from "typebox";
import { defined } from "#src/http/defined.ts";
import { required } from "#src/routes/answer.ts";
import type {
  CreateAutomationRule,
  UpdateAutomationRule,
} from "#src/routes/automations/rule-schemas.ts";
import { toComment } from "#src/routes/comments/mapping.ts";

/** Returns the fields of a new automation rule, with the defaults of absent ones. */
export function fromNewRule(body: Static<typeof CreateAutomationRule>) {
  const { mediaIds = null, match = "any", excludeKeywords = [], ...rest } = body;
  return { ...rest, match, excludeKeywords, ...(mediaIds && { media: { ids: mediaIds } }) };
}

/** Lists are wrapped, because an empty list differs from an absent one. */
export function fromRuleChanges(body: Static<typeof UpdateAutomationRule>) {
  const { mediaIds, keywords, excludeKeywords, ...rest } = body;
  return {
    ...defined(rest),
    allMedia: mediaIds === null,
    ...(mediaIds && { media: { ids: mediaIds } }),
    ...(keywords && { keywords: { words: keywords } }),
    ...(excludeKeywords && { excludeKeywords: { words: excludeKeywords } }),
  };
}

/** Converts an automation rule to the form of the API. */
export function toAutomationRule(rule: AutomationRule) {
  const { id, accountId, name, keywords, match, excludeKeywords, message, status } = rule;
  return {
    id,
    accountId,
    name,
    mediaIds: rule.media?.ids ?? null,
    keywords,
    match,
    excludeKeywords,
    message,
    status,
    createdAt: toOptionalInstant(rule.createdAt),
    updatedAt: toOptionalInstant(rule.updatedAt),
  };
}

/** Converts the result of an automation rule for a past comment to the form of the API. */
export function toBackfillItem({ comment, outcome, reason }: BackfillItem) {
  return { comment: toComment(required(comment)), outcome, reason: reason ?? null };
}

/** Converts a backfill job to its short form in a list. */
export function toBackfillSummary(backfill: Backfill) {
  const { id, ruleId, mediaId, status, counts } = backfill;
  return {
    id,
    ruleId,
    mediaId,
    status,
    counts: {
      scanned: Number(counts?.scanned ?? 0n),
      matched: Number(counts?.matched ?? 0n),
      prepared: Number(counts?.prepared ?? 0n),
      skipped: Number(counts?.skipped ?? 0n),
    },
    sending: "blocked",
    createdAt: toOptionalInstant(backfill.createdAt),
    updatedAt: toOptionalInstant(backfill.updatedAt),
  };
}

/**
 * Converts the answer of an RPC that contains a backfill job and a page of its results to the form
 * of the API.
 */
export function toBackfill(answer: {
  readonly backfill?: Backfill | undefined;
  readonly results: readonly BackfillItem[];
  readonly nextCursor?: string | undefined;
}) {
  return {
    ...toBackfillSummary(required(answer.backfill)),
    results: answer.results.map(toBackfillItem),
    nextCursor: answer.nextCursor ?? null,
  };
}
