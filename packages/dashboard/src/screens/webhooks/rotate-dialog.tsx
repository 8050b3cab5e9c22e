import type { Webhook } from "@postrider/client";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "../../kit/button.tsx";
import { Dialog } from "../../kit/dialog.tsx";
import { ErrorNotice } from "../../kit/error-notice.tsx";
import { Field } from "../../kit/field.tsx";
import { Select } from "../../kit/select.tsx";
import { kitWords } from "../../words/kit-words.ts";
import { useWords } from "../../words/use-words.ts";
import { webhooksApi } from "./webhooks-api.ts";
import { webhooksWords } from "./webhooks-words.ts";

interface RotateDialogProps {
  readonly endpoint: Webhook;
  readonly onClose: () => void;
  readonly onRotated: (secret: string | undefined) => void;
}

/** In hours; a day is what most programs need to take the new secret. */
const USUAL_GRACE = "24";

export function RotateDialog({ endpoint, onClose, onRotated }: RotateDialogProps) {
  const words = useWords(webhooksWords);
  const kit = useWords(kitWords);
  const [grace, setGrace] = useState(USUAL_GRACE);
  const rotation = useMutation({
    mutationFn: () =>
      webhooksApi.update(endpoint.id, { rotateSecret: { graceHours: Number(grace) } }),
    onSuccess: ({ secret }) => onRotated(secret),
  });
  const options = Object.entries(words.graces).map(([value, label]) => ({ value, label }));
  return (
    <Dialog
      title={words.rotateTitle}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{kit.cancel}</Button>
          <Button kind="primary" busy={rotation.isPending} onClick={() => rotation.mutate()}>
            {words.rotateNow}
          </Button>
        </>
      }
    >
      <p className="sm quiet">{words.rotateText}</p>
      <Field label={words.grace}>
        {(control) => (
          <Select
            {...control}
            edge
            label={words.grace}
            value={grace}
            options={options}
            onChange={setGrace}
          />
        )}
      </Field>
      {rotation.error !== null && <ErrorNotice error={rotation.error} />}
    </Dialog>
  );
}
