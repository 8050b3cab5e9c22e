import type { AutomationRule } from "@postrider/client";
import { useState } from "react";
import { createKey, isUnanswered } from "../../api/sending.ts";
import { useSession } from "../../session/session-context.ts";
import { useLeaveGuard } from "../../session/use-leave-guard.ts";
import { createStore, useStore } from "../../settings/create-store.ts";
import { draftOf, newDraft, type RuleDraft } from "./rule-draft.ts";
import { useReplyingAccounts } from "./use-replying-accounts.ts";

export interface Written {
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

interface Held {
  /** By the id of the rule. */
  readonly drafts: Readonly<Record<string, RuleDraft>>;
  readonly key: string;
  /** Whether a request with the key has no answer. */
  readonly isAsked?: boolean;
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
  return {
    draft: drafts[chosen] ?? (rule ? draftOf(rule) : newDraft(accounts[0]?.id ?? "")),
    key,
    changed: new Set(Object.keys(drafts)),
    write: (draft) => change((held) => ({ ...held, drafts: { ...held.drafts, [chosen]: draft } })),
    drop: (saved) =>
      change(({ drafts: { [chosen]: own, ...others } }) => {
        const isKept = own !== undefined && saved !== undefined && own !== saved;
        return { drafts: isKept ? { ...others, [chosen]: own } : others, key: createKey() };
      }),
    settleKey: (error) =>
      change(({ drafts, key, isAsked }) =>
        isUnanswered(error, isAsked)
          ? { drafts, key, isAsked: true }
          : { drafts, key: createKey() },
      ),
  };
}
