import type { AutomationRule } from "@postrider/client";

/** A rule as it is written. */
export interface RuleDraft {
  readonly accountId: string;
  readonly name: string;
  /** Null: all posts of the account. */
  readonly mediaIds: readonly string[] | null;
  readonly keywords: readonly string[];
  readonly match: AutomationRule["match"];
  readonly excludeKeywords: readonly string[];
  readonly message: string;
}

export const MAX_MESSAGE_BYTES = 1_000;
const MAX_WORDS = 50;

export type Fault = "account" | "name" | "posts" | "keywords" | "message" | "messageLong";

export function newDraft(accountId: string): RuleDraft {
  const words = { keywords: [], match: "any", excludeKeywords: [] } as const;
  return { accountId, name: "", mediaIds: null, ...words, message: "" };
}

export function draftOf(rule: AutomationRule): RuleDraft {
  const { accountId, name, mediaIds, keywords, match, excludeKeywords, message } = rule;
  return { accountId, name, mediaIds, keywords, match, excludeKeywords, message };
}

export function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** What keeps a rule from being saved, in the order of the fields. */
export function faultsOf(draft: RuleDraft): readonly Fault[] {
  const { accountId, name, mediaIds, keywords, message } = draft;
  const faults: readonly (readonly [Fault, boolean])[] = [
    ["name", name.trim() === ""],
    ["account", accountId === ""],
    ["posts", mediaIds?.length === 0],
    ["keywords", keywords.length === 0],
    ["message", message.trim() === ""],
    ["messageLong", bytesOf(message) > MAX_MESSAGE_BYTES],
  ];
  return faults.filter(([, isFaulty]) => isFaulty).map(([fault]) => fault);
}

/** A list with the words that were typed, split at commas; none is repeated. */
export function withWords(words: readonly string[], typed: string): readonly string[] {
  const added = typed
    .split(/[,\n]/)
    .map((word) => word.trim())
    .filter((word) => word !== "");
  return [...new Set([...words, ...added])].slice(0, MAX_WORDS);
}

export function isSame(one: RuleDraft, other: RuleDraft): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
