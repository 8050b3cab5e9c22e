import type { PlatformComment } from "@postrider/platforms/comments/connector";
import type { CallErrorCode } from "#src/calls/call.ts";
import { type AutomationRule, readsMedia, toSecond } from "./automation-rule.ts";
import type { EndedPrivateReply } from "./comment-action.ts";
import { FORGET_AFTER_DAYS } from "./forget-after.ts";
import type { CommentMatch } from "./match-comment.ts";

export type RunReason =
  | "sending_blocked"
  | "excluded"
  | "already_replied"
  | "too_old"
  | "rule_inactive"
  | "platform_refused"
  | "outcome_unknown";

/** `send` = a private reply is sent, and the run ends with it. */
type RunPlan =
  | { readonly kind: "send"; readonly sendBefore: Date }
  | { readonly kind: "prepared"; readonly reason: "sending_blocked" }
  | {
      readonly kind: "skipped";
      readonly reason: "excluded" | "too_old" | "already_replied" | "rule_inactive";
    };

export interface PlannedRun {
  readonly rule: AutomationRule;
  readonly comment: PlatformComment;
  readonly plan: RunPlan;
}

export interface PlanContext {
  readonly mediaId: string;
  readonly now: Date;
  /** Maximum age of a comment that can be answered privately. */
  readonly windowMs: number;
  /** Null while sending is blocked. */
  readonly sendingSince: Date | null;
  /** Comments that have a private reply, or for which one waits. */
  readonly answeredIds: ReadonlySet<string>;
  /** Keys made by `runKey`. */
  readonly knownRuns: ReadonlySet<string>;
}

const DAY_MS = 86_400_000;
/** Before the platform's latest time for private replies. */
const MARGIN_MS = 60_000;

/** The margin covers the duration of a call and the difference to the platform's clock. */
function answerableUntil(createdAt: Date, windowMs: number): Date {
  return new Date(createdAt.getTime() + windowMs - MARGIN_MS);
}

export function runKey(ruleId: string, commentId: string): string {
  return `${ruleId} ${commentId}`;
}

export type RuleMatcher = (rule: AutomationRule, text: string) => CommentMatch;

/**
 * Plans the runs for the comments on a page. Of several automation rules that match a comment, the
 * first in the list sends.
 *
 * @param rules The rules of the account that are active, or were active when the page was read,
 *   oldest first.
 */
export function planRuns(
  rules: readonly AutomationRule[],
  comments: readonly PlatformComment[],
  context: PlanContext,
  match: RuleMatcher,
): readonly PlannedRun[] {
  const answeredIds = new Set(context.answeredIds);
  return comments.flatMap((comment) =>
    rules.flatMap((rule) => {
      if (!isConcerned(rule, comment, context)) return [];
      const found = match(rule, comment.text);
      if (found === "no_match") return [];
      const plan = planRun(rule, comment, found, { ...context, answeredIds });
      if (plan.kind === "send") answeredIds.add(comment.id);
      return [{ rule, comment, plan }];
    }),
  );
}

function isConcerned(
  rule: AutomationRule,
  { id, createdAt }: PlatformComment,
  { mediaId, knownRuns, now }: Pick<PlanContext, "mediaId" | "knownRuns" | "now">,
): boolean {
  const { activatedAt } = rule;
  // The run of an older comment may have been removed.
  const isRemembered = now.getTime() - createdAt.getTime() < FORGET_AFTER_DAYS * DAY_MS;
  const isNew = isRemembered && activatedAt !== null && createdAt >= toSecond(activatedAt);
  return isNew && readsMedia(rule, mediaId) && !knownRuns.has(runKey(rule.id, id));
}

function planRun(
  { status }: AutomationRule,
  { id, createdAt }: PlatformComment,
  match: "match" | "excluded",
  { now, windowMs, sendingSince, answeredIds }: PlanContext,
): RunPlan {
  const sendBefore = answerableUntil(createdAt, windowMs);
  if (match === "excluded") return { kind: "skipped", reason: "excluded" };
  if (status !== "active") return { kind: "skipped", reason: "rule_inactive" };
  if (sendBefore <= now) return { kind: "skipped", reason: "too_old" };
  if (sendingSince === null || createdAt < toSecond(sendingSince))
    return { kind: "prepared", reason: "sending_blocked" };
  if (answeredIds.has(id)) return { kind: "skipped", reason: "already_replied" };
  return { kind: "send", sendBefore };
}

type BackfillPlan =
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

export interface RunEnd {
  readonly status: "prepared" | "sent" | "skipped" | "failed";
  readonly reason: RunReason | null;
}

/** Private replies that were not sent although the platform did not refuse them. */
const ENDS: Readonly<Partial<Record<CallErrorCode, RunEnd>>> = {
  rule_inactive: { status: "skipped", reason: "rule_inactive" },
  sending_blocked: { status: "prepared", reason: "sending_blocked" },
  duplicate_on_platform: { status: "skipped", reason: "already_replied" },
  missed: { status: "skipped", reason: "too_old" },
  outcome_unknown: { status: "failed", reason: "outcome_unknown" },
};

export function endOfRun({ result }: Pick<EndedPrivateReply, "result">): RunEnd {
  if (result.kind === "sent") return { status: "sent", reason: null };
  return ENDS[result.code] ?? { status: "failed", reason: "platform_refused" };
}
