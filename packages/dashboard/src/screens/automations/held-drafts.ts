import { changedFields } from "../../api/changed-fields.ts";
import { createKey } from "../../api/sending.ts";
import type { RuleDraft } from "./rule-draft.ts";

/** In place of an id: the rule that does not exist yet. */
export const NEW = "new";

export interface HeldDraft {
  /** The rule as it was when the draft was written. */
  readonly opened: RuleDraft;
  readonly draft: RuleDraft;
}

/** What is written to the rules of a workspace. */
export interface Held {
  /** By the id of the rule. */
  readonly drafts: Readonly<Record<string, HeldDraft>>;
  /** The `Idempotency-Key` of the rule that is made next. */
  readonly key: string;
  /** Whether a request with the key has no answer. */
  readonly isAsked?: boolean;
}

/** What is written to a rule as it is now: the other fields are as another person changed them. */
export function draftOn(rule: RuleDraft, held: HeldDraft | undefined): RuleDraft {
  return held === undefined ? rule : { ...rule, ...changedFields(held.opened, held.draft) };
}

export function withDraft(held: Held, id: string, written: HeldDraft): Held {
  return { ...held, drafts: { ...held.drafts, [id]: written } };
}

interface Saved {
  /** What was held when it was saved. */
  readonly held: HeldDraft | undefined;
  readonly draft: RuleDraft;
}

/** After a draft was saved, only what was written since is held; without one, nothing is. */
export function withoutDraft(held: Held, id: string, saved?: Saved): Held {
  const { [id]: own, ...others } = held.drafts;
  const isKept = own !== undefined && saved !== undefined && own !== saved.held;
  const kept = isKept ? { ...others, [id]: { opened: saved.draft, draft: own.draft } } : others;
  return id === NEW ? { drafts: kept, key: createKey() } : { ...held, drafts: kept };
}
