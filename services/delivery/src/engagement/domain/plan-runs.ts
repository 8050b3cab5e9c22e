import type { PlatformComment } from "@postrider/platforms/comments/connector";
import { readsMedia, toSecond, type AutomationRule } from "./automation-rule.ts";
import {
  createCommentMatcher,
  foldComment,
  type CommentMatch,
  type FoldedComment,
} from "./match-comment.ts";

export type RunReason =
  | "sending_blocked"
  | "excluded"
  | "already_replied"
  | "too_old"
  | "rule_inactive"
  | "platform_refused"
  | "outcome_unknown";

/** What becomes of a comment under a rule: `send` waits until the private reply has ended. */
export type RunPlan =
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

/** What decides about the comments on one page, apart from the rules. */
export interface PlanContext {
  readonly mediaId: string;
  readonly now: Date;
  /** Maximum age in milliseconds of a comment that can be answered privately. */
  readonly windowMs: number;
  /** Since when private replies may be sent; null while sending is blocked. */
  readonly sendingSince: Date | null;
  /** The comments that have a private reply, or will have one. */
  readonly answeredIds: ReadonlySet<string>;
  /** The runs that exist already, as `runKey` names them. */
  readonly knownRuns: ReadonlySet<string>;
}

/** How long before the end of the platform's time for private replies the last call starts, in milliseconds. */
const MARGIN_MS = 60_000;

/**
 * Returns the instant after which no private reply to a comment is sent. The margin is for the time until a call arrives, and for
 * the clock of the platform.
 */
export function answerableUntil(createdAt: Date, windowMs: number): Date {
  return new Date(createdAt.getTime() + windowMs - MARGIN_MS);
}

/** Returns the key of the only run that a rule can have for a comment. */
export function runKey(ruleId: string, commentId: string): string {
  return `${ruleId} ${commentId}`;
}

export type RuleMatcher = (rule: AutomationRule, text: string) => CommentMatch;

/** Returns a function that matches comments with a rule; the words of each rule and each text are folded once. */
export function createRuleMatcher(): RuleMatcher {
  const matchers = new Map<string, (comment: FoldedComment) => CommentMatch>();
  const comments = new Map<string, FoldedComment>();
  return (rule, text) => {
    const match = matchers.get(rule.id) ?? createCommentMatcher(rule);
    matchers.set(rule.id, match);
    const comment = comments.get(text) ?? foldComment(text);
    comments.set(text, comment);
    return match(comment);
  };
}

/**
 * Plans the runs of the comments on a page. Of several rules that match a comment, the first in the list sends.
 *
 * @param rules The rules of the account that are active, or were active when the page was read, oldest first.
 */
export function planRuns(
  rules: readonly AutomationRule[],
  comments: readonly PlatformComment[],
  context: PlanContext,
  match: RuleMatcher = createRuleMatcher(),
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
  { mediaId, knownRuns }: Pick<PlanContext, "mediaId" | "knownRuns">,
): boolean {
  const { activatedAt } = rule;
  const isNew = activatedAt !== null && createdAt >= toSecond(activatedAt);
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
