import { useState } from "react";
import { Button } from "../../kit/button.tsx";
import { Dialog } from "../../kit/dialog.tsx";
import { Checkbox } from "../../kit/field.tsx";
import { SecretBox } from "../../kit/secret-box.tsx";
import { useWords } from "../../words/use-words.ts";
import { webhooksWords } from "./webhooks-words.ts";

interface SecretDialogProps {
  readonly secret: string;
  readonly onDone: () => void;
}

/** The secret is shown once, so the dialog stays until the person says that it is stored. */
export function SecretDialog({ secret, onDone }: SecretDialogProps) {
  const words = useWords(webhooksWords);
  const [isStored, setStored] = useState(false);
  return (
    <Dialog
      title={words.secretTitle}
      footer={
        <Button kind="primary" disabled={!isStored} onClick={onDone}>
          {words.done}
        </Button>
      }
    >
      <p className="sm quiet">{words.secretText}</p>
      <SecretBox text={secret} label={words.copySecret} />
      <Checkbox checked={isStored} onChange={({ target }) => setStored(target.checked)}>
        {words.stored}
      </Checkbox>
    </Dialog>
  );
}
