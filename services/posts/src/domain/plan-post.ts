import { createHash } from "node:crypto";
import type { SettingValues } from "@postrider/platforms/settings/read-settings";
import { normalizeText } from "@postrider/platforms/text/normalize-text";
import { effectiveContent } from "./effective-content.ts";
import type { QueueSlot } from "./next-slots.ts";
import type { PostAccount, PostContent, PostTiming } from "./post.ts";
import { dayOf } from "./quota.ts";

export interface Due {
  readonly dueAt: Date;
  readonly publishBefore: Date;
}

/** `due` is null for a draft, which is not to be published yet. */
export interface Placement {
  readonly status: "draft" | "scheduled" | "publishing";
  readonly scheduledAt: Date | null;
  readonly queueSlotRuleId: string | null;
  readonly due: Due | null;
}

export interface PlannedTarget {
  readonly id: string;
  readonly accountId: string;
  readonly platform: string;
  readonly username: string;
  /** The UTC day on which the target uses quota; null for a draft and until the time is known. */
  readonly dueDay: string | null;
  /** SHA-256 in hex; null for a draft. */
  readonly contentHash: string | null;
  /** The settings of the account; null = the defaults, or a draft. */
  readonly settings: SettingValues | null;
}

/** After a queue slot was chosen for a post that asked for one. */
export type ChosenTiming =
  | Exclude<PostTiming, { kind: "queue_slot" }>
  | ({ readonly kind: "chosen_slot" } & QueueSlot);

/** The current time, and how many milliseconds after its due time a post may still be published. */
interface PlacementTimes {
  readonly now: Date;
  readonly missedAfterMs: number;
}

export function dueFrom(dueAt: Date, missedAfterMs: number): Due {
  return { dueAt, publishBefore: new Date(dueAt.getTime() + missedAfterMs) };
}

/** A scheduled time that has just passed is replaced by the current time. */
export function placeNewPost(
  timing: ChosenTiming,
  { now, missedAfterMs }: PlacementTimes,
): Placement {
  if (timing.kind === "chosen_slot") return placeAt(timing.slotAt, timing.ruleId, missedAfterMs);
  const queueSlotRuleId = null;
  if (timing.kind === "draft")
    return { status: "draft", scheduledAt: timing.scheduledAt, queueSlotRuleId, due: null };

  const due = dueFrom(now, missedAfterMs);
  if (timing.kind === "now")
    return { status: "publishing", scheduledAt: null, queueSlotRuleId, due };

  const { scheduledAt } = timing;
  return scheduledAt <= now
    ? { status: "publishing", scheduledAt: now, queueSlotRuleId, due }
    : placeAt(scheduledAt, queueSlotRuleId, missedAfterMs);
}

/** The time to which an update or publish request moves a draft or scheduled post. */
export type ChangedTiming =
  | { readonly kind: "unchanged" }
  | { readonly kind: "now" }
  | { readonly kind: "scheduled"; readonly scheduledAt: Date };

/** The post keeps its queue slot unless its time changes. */
export function placeUnpublishedPost(
  post: Pick<Placement, "scheduledAt" | "queueSlotRuleId"> & { readonly status: string },
  timing: ChangedTiming,
  { now, missedAfterMs }: PlacementTimes,
): Placement {
  if (timing.kind === "now") {
    const scheduledAt = post.scheduledAt === null ? null : now;
    const due = dueFrom(now, missedAfterMs);
    return { status: "publishing", scheduledAt, queueSlotRuleId: null, due };
  }
  if (timing.kind === "unchanged")
    return post.status === "scheduled" && post.scheduledAt !== null
      ? placeAt(post.scheduledAt, post.queueSlotRuleId, missedAfterMs)
      : { status: "draft", scheduledAt: post.scheduledAt, queueSlotRuleId: null, due: null };

  const at = new Date(Math.max(timing.scheduledAt.getTime(), now.getTime()));
  const keepsTime = at.getTime() === post.scheduledAt?.getTime();
  return placeAt(at, keepsTime ? post.queueSlotRuleId : null, missedAfterMs);
}

function placeAt(
  scheduledAt: Date,
  queueSlotRuleId: string | null,
  missedAfterMs: number,
): Placement {
  const due = dueFrom(scheduledAt, missedAfterMs);
  return { status: "scheduled", scheduledAt, queueSlotRuleId, due };
}

/**
 * In the order of the accounts; when they are due is not known yet. `idOf` returns a new id, or
 * that of the stored target of the account.
 */
export function planTargets(
  post: PostContent,
  accounts: ReadonlyMap<string, PostAccount>,
  { isDraft, idOf }: { readonly isDraft: boolean; readonly idOf: (accountId: string) => string },
): readonly PlannedTarget[] {
  // Most targets of a post have the same text, so each text is hashed once.
  const hashes = new Map<string, string>();
  return post.accountIds.flatMap((accountId): PlannedTarget[] => {
    const account = accounts.get(accountId);
    if (account === undefined) return [];
    const { platform, username, settings = null } = account;
    const target = { id: idOf(accountId), accountId, platform, username, dueDay: null };
    if (isDraft) return [{ ...target, contentHash: null, settings: null }];
    const { text } = effectiveContent(post.content, post.options, target);
    const hash = hashes.get(text) ?? contentHash(text, post.mediaIds);
    hashes.set(text, hash);
    return [{ ...target, contentHash: hash, settings }];
  });
}

export function placeTargets(
  targets: readonly PlannedTarget[],
  due: Due | null,
): readonly PlannedTarget[] {
  if (due === null) return targets;
  const dueDay = dayOf(due.dueAt);
  return targets.map((target) => ({ ...target, dueDay }));
}

/** SHA-256, in hex, of the normalized text and the media in their order, as readers see them. */
export function contentHash(text: string, mediaIds: readonly string[]): string {
  return createHash("sha256")
    .update(JSON.stringify([normalizeText(text), mediaIds]))
    .digest("hex");
}
