import type { AutomationRule } from "@postrider/client";
import { useState } from "react";
import { createKey } from "../../api/sending.ts";
import { draftOf, newDraft, type RuleDraft } from "./rule-draft.ts";
import { useReplyingAccounts } from "./use-replying-accounts.ts";

export interface Written {
  readonly draft: RuleDraft;
  /** The `Idempotency-Key` of the rule that is made next. */
  readonly key: string;
  /** The rules with changes that are not saved. */
  readonly changed: ReadonlySet<string>;
  readonly write: (draft: RuleDraft) => void;
  readonly drop: () => void;
  readonly renewKey: () => void;
}

/** What is written to each rule, so that looking at another one takes nothing away. */
export function useWritten(chosen: string, rule: AutomationRule | undefined): Written {
  const [drafts, setDrafts] = useState<Readonly<Record<string, RuleDraft>>>({});
  const [key, setKey] = useState(createKey);
  const accounts = useReplyingAccounts();
  const renewKey = () => setKey(createKey());
  const { [chosen]: own, ...others } = drafts;
  return {
    draft: own ?? (rule ? draftOf(rule) : newDraft(accounts[0]?.id ?? "")),
    key,
    changed: new Set(Object.keys(drafts)),
    write: (draft) => setDrafts({ ...others, [chosen]: draft }),
    drop: () => {
      setDrafts(others);
      renewKey();
    },
    renewKey,
  };
}
