import type { AutomationRule } from "@postrider/client";
import { useMutation } from "@tanstack/react-query";
import { Button } from "../../kit/button.tsx";
import { Dialog } from "../../kit/dialog.tsx";
import { ErrorNotice } from "../../kit/error-notice.tsx";
import { showToast } from "../../kit/toast.tsx";
import { kitWords } from "../../words/kit-words.ts";
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
  const kit = useWords(kitWords);
  const deletion = useMutation({
    mutationFn: () => automationsApi.update(id, { status: "revoked" }),
    onSuccess: () => {
      showToast(words.deleted(name));
      onDeleted();
    },
  });
  return (
    <Dialog
      title={words.deleteTitle(name)}
      onClose={onKeep}
      footer={
        <>
          <Button onClick={onKeep}>{kit.cancel}</Button>
          <Button kind="danger-solid" busy={deletion.isPending} onClick={() => deletion.mutate()}>
            {words.deleteLast}
          </Button>
        </>
      }
    >
      <p className="sm quiet">{words.deleteText}</p>
      {deletion.error !== null && <ErrorNotice error={deletion.error} />}
    </Dialog>
  );
}
