import type { PlatformComment } from "@postrider/platforms/comments/connector";
import { readsMedia, type AutomationRule } from "./automation-rule.ts";
import { answerableUntil, type RuleMatcher } from "./plan-runs.ts";

export type BackfillPlan =
  | { readonly outcome: "prepared" | "no_match"; readonly reason: null }
  | {
      readonly outcome: "skipped";
      readonly reason: "excluded" | "too_old" | "already_replied";
    };

export type PlannedItem = BackfillPlan & { readonly comment: PlatformComment };

interface BackfillContext {
  readonly mediaId: string;
  readonly now: Date;
  /** Maximum age of a comment that can be answered privately. */
  readonly windowMs: number;
  /** Comments that have a private reply, or for which one waits. */
  readonly answeredIds: ReadonlySet<string>;
}

/** Newest first and without duplicates. */
export function planBackfill(
  rule: AutomationRule,
  comments: readonly PlatformComment[],
  context: BackfillContext,
  match: RuleMatcher,
): readonly PlannedItem[] {
  const once = [...new Map(comments.map((comment) => [comment.id, comment])).values()];
  return once
    .toSorted((a, b) => b.createdAt.getTime() - a.createdAt.getTime())
    .map((comment) => {
      const isRead = readsMedia(rule, context.mediaId) && !comment.isOwn;
      const found = isRead ? match(rule, comment.text) : "no_match";
      return { comment, ...planItem(comment, found, context) };
    });
}

function planItem(
  { id, createdAt }: PlatformComment,
  match: "match" | "excluded" | "no_match",
  { now, windowMs, answeredIds }: BackfillContext,
): BackfillPlan {
  if (match === "no_match") return { outcome: "no_match", reason: null };
  if (match === "excluded") return { outcome: "skipped", reason: "excluded" };
  if (answerableUntil(createdAt, windowMs) <= now) return { outcome: "skipped", reason: "too_old" };
  if (answeredIds.has(id)) return { outcome: "skipped", reason: "already_replied" };
  return { outcome: "prepared", reason: null };
}
