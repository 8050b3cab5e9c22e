import type { Draft } from "./draft.ts";
import type { Place } from "./faults.ts";
import { timeOfWhen, type When } from "./when.ts";
import type { composeEn } from "./words-en.ts";

interface LabelFacts {
  readonly kind: When["kind"];
  readonly accounts: number;
  /** A scheduled post that is edited, which stays planned. */
  readonly isPlanned: boolean;
  /** When the next free slot is, in words. */
  readonly slot: string | undefined;
}

/** What the button will do. */
export function sendLabel(facts: LabelFacts, words: (typeof composeEn)["send"]): string {
  const { kind, accounts, isPlanned, slot } = facts;
  if (accounts === 0) return words.none;
  if (kind === "now") return words.now(accounts);
  if (kind === "slot") return slot === undefined ? words.slotWithoutTime : words.slot(slot);
  return isPlanned ? words.save : words.at(accounts);
}

interface Readiness {
  readonly as: "send" | "draft";
  /** Files that are on their way. */
  readonly uploads: number;
  readonly faults: number;
  readonly slot: string | undefined;
}

/** Where the button leads instead of sending; a draft needs nothing but an account. */
export function obstacleOf(
  { accountIds, when }: Pick<Draft, "accountIds" | "when">,
  { as, uploads, faults, slot }: Readiness,
): Place | "faults" | undefined {
  if (accountIds.length === 0) return "accounts";
  if (uploads > 0) return "media";
  if (as === "draft") return undefined;
  const hasTime = { now: true, slot: slot !== undefined, at: timeOfWhen(when) !== undefined };
  if (!hasTime[when.kind]) return "time";
  return faults > 0 ? "faults" : undefined;
}
