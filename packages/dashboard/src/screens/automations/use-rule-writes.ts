import type { AutomationRule } from "@postrider/client";
import { useMutation } from "@tanstack/react-query";
import { changedFields, isEmpty } from "../../api/changed-fields.ts";
import { showToast } from "../../kit/toast.tsx";
import { useWords } from "../../words/use-words.ts";
import { automationsApi } from "./automations-api.ts";
import { automationsWords } from "./automations-words.ts";
import { draftOf } from "./rule-draft.ts";
import type { Written } from "./use-written.ts";

/** Saving, activating and pausing a rule. What is written stays until the server has taken it. */
export function useRuleWrites(
  rule: AutomationRule | undefined,
  { draft, key, drop, settleKey }: Written,
  onMade: (id: string) => void,
) {
  const words = useWords(automationsWords);
  const { accountId, ...fields } = { ...draft, name: draft.name.trim() };
  const write = useMutation({
    mutationFn: async (act: () => Promise<void>) => await act(),
  });
  const create = async (): Promise<void> => {
    try {
      const made = await automationsApi.create({ accountId, ...fields }, key);
      drop(draft);
      showToast(words.created(made.name));
      onMade(made.id);
    } catch (error) {
      settleKey(error);
      throw error;
    }
  };
  const update = async (of: AutomationRule, isActivated: boolean): Promise<void> => {
    const changed = changedFields<Partial<typeof draft>>(draftOf(of), fields);
    const changes = { ...changed, ...(isActivated && { status: "active" as const }) };
    if (isEmpty(changes)) {
      drop();
      return;
    }
    await automationsApi.update(of.id, changes);
    drop(draft);
    showToast(isActivated ? words.activated(fields.name) : words.saved);
  };
  const pause = async ({ id }: AutomationRule): Promise<void> => {
    const { name } = await automationsApi.update(id, { status: "paused" });
    showToast(words.paused(name));
  };
  const ofRule = (act: (of: AutomationRule) => Promise<void>) => () => {
    if (rule !== undefined) write.mutate(() => act(rule));
  };
  return {
    isBusy: write.isPending,
    error: write.error,
    save: rule === undefined ? () => write.mutate(create) : ofRule((of) => update(of, false)),
    activate: ofRule((of) => update(of, true)),
    pause: ofRule(pause),
  };
}
