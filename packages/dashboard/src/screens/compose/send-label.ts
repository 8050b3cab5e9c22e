import type { When } from "./when.ts";
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
