import type { RuleWords } from "./match-comment.ts";

export type RuleStatus = "draft" | "active" | "paused" | "revoked";

export interface AutomationRule extends RuleWords {
  readonly id: string;
  readonly workspaceId: string;
  readonly accountId: string;
  readonly platform: string;
  readonly name: string;
  /** The platform's ids; null = all media of the account. */
  readonly mediaIds: readonly string[] | null;
  /** Text of the private reply. */
  readonly message: string;
  readonly status: RuleStatus;
  /** Comments from before the last activation are ignored; null before the first one. */
  readonly activatedAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export type RuleChange = Partial<
  Pick<
    AutomationRule,
    "name" | "mediaIds" | "keywords" | "match" | "excludeKeywords" | "message" | "status"
  >
>;

export type ChangedRule =
  | { readonly kind: "changed"; readonly rule: AutomationRule }
  | { readonly kind: "unchanged" }
  | { readonly kind: "invalid_transition" };

const NEXT: Readonly<Record<RuleStatus, readonly RuleStatus[]>> = {
  draft: ["active", "revoked"],
  active: ["paused", "revoked"],
  paused: ["active", "revoked"],
  revoked: [],
};

/**
 * Returns the automation rule after a change. Setting the current status again changes nothing. A
 * revoked rule accepts no other change. A rule that becomes active gets a new activation time, so
 * that comments written during a pause are not answered.
 *
 * @param now A time at which no other transaction is storing runs of the account.
 */
export function changeRule(known: AutomationRule, change: RuleChange, now: Date): ChangedRule {
  const { status = known.status, ...fields } = change;
  const isChanged = status !== known.status;
  if (isChanged && !NEXT[known.status].includes(status)) return { kind: "invalid_transition" };
  if (Object.keys(fields).length === 0 && !isChanged) return { kind: "unchanged" };
  if (known.status === "revoked") return { kind: "invalid_transition" };
  const activatedAt = isChanged && status === "active" ? now : known.activatedAt;
  return {
    kind: "changed",
    rule: { ...known, ...fields, status, activatedAt, updatedAt: now },
  };
}

export function readsMedia({ mediaIds }: AutomationRule, mediaId: string): boolean {
  return mediaIds === null || mediaIds.includes(mediaId);
}

/** Platforms give whole seconds: a comment of the activation's second counts as after it. */
export function toSecond(time: Date): Date {
  return new Date(Math.floor(time.getTime() / 1000) * 1000);
}

/** Returns the second in which the longest active of the rules became active. */
export function oldestActivationOf(rules: readonly AutomationRule[]): Date {
  const times = rules.map(({ activatedAt }) => activatedAt?.getTime() ?? Infinity);
  return toSecond(new Date(Math.min(...times)));
}
