import { createKey } from "../../api/sending.ts";
import type { RuleDraft } from "./rule-draft.ts";

interface HeldDraft {
  /** The rule as it was when its first change was written. */
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

export function withDraft(held: Held, id: string, draft: RuleDraft, shown: RuleDraft): Held {
  const opened = held.drafts[id]?.opened ?? shown;
  return { ...held, drafts: { ...held.drafts, [id]: { opened, draft } } };
}

/** After a draft was saved, only what was written since is held; without one, nothing is. */
export function withoutDraft({ drafts }: Held, id: string, saved?: RuleDraft): Held {
  const { [id]: own, ...others } = drafts;
  const isKept = own !== undefined && saved !== undefined && own.draft !== saved;
  const kept = isKept ? { ...others, [id]: { opened: saved, draft: own.draft } } : others;
  return { drafts: kept, key: createKey() };
}
