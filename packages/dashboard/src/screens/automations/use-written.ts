import type { AutomationRule } from "@postrider/client";
import { useState } from "react";
import { createKey, isUnanswered } from "../../api/sending.ts";
import { useSession } from "../../session/session-context.ts";
import { useLeaveGuard } from "../../session/use-leave-guard.ts";
import { createStore, useStore } from "../../settings/create-store.ts";
import { draftOn, type Held, withDraft, withoutDraft } from "./held-drafts.ts";
import { draftOf, newDraft, type RuleDraft } from "./rule-draft.ts";
import { useReplyingAccounts } from "./use-replying-accounts.ts";

export interface Written {
  /** The rule as it is now, with what was written. */
  readonly draft: RuleDraft;
  /** The `Idempotency-Key` of the rule that is made next. */
  readonly key: string;
  /** The rules with changes that are not saved. */
  readonly changed: ReadonlySet<string>;
  readonly write: (draft: RuleDraft) => void;
  /** Forgets what was written; with a draft that was saved, unless it was changed since. */
  readonly drop: (saved?: RuleDraft) => void;
  /** Keeps the key while nothing says whether a request with it has made a rule. */
  readonly settleKey: (error: unknown) => void;
}

/** What is written to the rules of each workspace, until this page is closed. */
const store = createStore<Readonly<Record<string, Held>>>({});

/**
 * What is written to each rule, so that looking at another one, or at another screen, takes nothing
 * away.
 */
export function useWritten(chosen: string, rule: AutomationRule | undefined): Written {
  const workspaceId = useSession().workspace.id;
  const [first] = useState((): Held => ({ drafts: {}, key: createKey() }));
  const { drafts, key } = useStore(store)[workspaceId] ?? first;
  const accounts = useReplyingAccounts();
  useLeaveGuard(Object.keys(drafts).length > 0);
  const change = (next: (held: Held) => Held) =>
    store.set({ ...store.get(), [workspaceId]: next(store.get()[workspaceId] ?? first) });
  const shown = rule ? draftOf(rule) : newDraft(accounts[0]?.id ?? "");
  const held = drafts[chosen];
  return {
    // No other person changes a rule that does not exist yet.
    draft: rule ? draftOn(shown, held) : (held?.draft ?? shown),
    key,
    changed: new Set(Object.keys(drafts)),
    write: (draft) => change((all) => withDraft(all, chosen, { opened: shown, draft })),
    drop: (saved) => change((all) => withoutDraft(all, chosen, saved && { held, draft: saved })),
    settleKey: (error) =>
      change(({ drafts, key, isAsked }) =>
        isUnanswered(error, isAsked)
          ? { drafts, key, isAsked: true }
          : { drafts, key: createKey() },
      ),
  };
}
