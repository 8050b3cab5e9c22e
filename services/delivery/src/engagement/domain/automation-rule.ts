import type { RuleWords } from "./match-comment.ts";
import { foldText, isAtMost } from "./text.ts";

/** Without those that are revoked. */
export const MAX_RULES_PER_WORKSPACE = 100;
/** In characters, as in the REST API. */
export const MAX_NAME_LENGTH = 200;
export const MAX_KEYWORDS = 50;
const MAX_KEYWORD_LENGTH = 100;
/**
 * Maximum number of UTF-16 units of a keyword in the form in which it is compared. A few characters
 * stand for up to 18 others (U+FDFA); without this limit, the keywords of a workspace could take
 * hundreds of megabytes of memory.
 */
const MAX_FOLDED_LENGTH = 2 * MAX_KEYWORD_LENGTH;
export const MAX_MEDIA = 100;
export const MAX_MESSAGE_BYTES = 1_000;

export function isKeyword(word: string): boolean {
  if (!isAtMost(word, MAX_KEYWORD_LENGTH)) return false;
  const folded = foldText(word);
  return folded !== "" && folded.length <= MAX_FOLDED_LENGTH;
}

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
