import type { AutomationRule } from "@postrider/client";
import { ConfirmDialog } from "../../kit/confirm-dialog.tsx";
import { showToast } from "../../kit/toast.tsx";
import { useWords } from "../../words/use-words.ts";
import { automationsApi } from "./automations-api.ts";
import { automationsWords } from "./automations-words.ts";

interface DeleteRuleProps {
  readonly rule: AutomationRule;
  readonly onKeep: () => void;
  readonly onDeleted: () => void;
}

export function DeleteRule({ rule: { id, name }, onKeep, onDeleted }: DeleteRuleProps) {
  const words = useWords(automationsWords);
  const remove = async () => {
    await automationsApi.update(id, { status: "revoked" });
    showToast(words.deleted(name));
    onDeleted();
  };
  return (
    <ConfirmDialog
      title={words.deleteTitle(name)}
      confirm={words.deleteLast}
      act={remove}
      onClose={onKeep}
    >
      <p className="sm quiet">{words.deleteText}</p>
    </ConfirmDialog>
  );
}
