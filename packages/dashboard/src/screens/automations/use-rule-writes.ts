import type { AutomationRule } from "@postrider/client";
import { useMutation } from "@tanstack/react-query";
import { changedFields, isEmpty } from "../../api/changed-fields.ts";
import { showToast } from "../../kit/toast.tsx";
import { useWords } from "../../words/use-words.ts";
import { automationsApi } from "./automations-api.ts";
import { automationsWords } from "./automations-words.ts";
import type { Written } from "./use-written.ts";

/** Saving, activating and pausing a rule. What is written stays until the server has taken it. */
export function useRuleWrites(
  rule: AutomationRule | undefined,
  { draft, opened, key, drop, settleKey }: Written,
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
  const update = async (id: string, isActivated: boolean): Promise<void> => {
    const changed = changedFields<Partial<typeof draft>>(opened, fields);
    const changes = { ...changed, ...(isActivated && { status: "active" as const }) };
    if (!isEmpty(changes)) await automationsApi.update(id, changes);
    drop(draft);
    showToast(isActivated ? words.activated(fields.name) : words.saved);
  };
  const pause = async (id: string): Promise<void> => {
    const { name } = await automationsApi.update(id, { status: "paused" });
    showToast(words.paused(name));
  };
  const ofRule = (act: (id: string) => Promise<void>) => () => {
    if (rule !== undefined) write.mutate(() => act(rule.id));
  };
  return {
    isBusy: write.isPending,
    error: write.error,
    save: rule === undefined ? () => write.mutate(create) : ofRule((id) => update(id, false)),
    activate: ofRule((id) => update(id, true)),
    pause: ofRule(pause),
  };
}
