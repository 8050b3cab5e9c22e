import type { CreatedDashboardApiKey } from "@postrider/rest/dashboard/api-key-schemas";
import { useState } from "react";
import { Button } from "../../kit/button.tsx";
import { Dialog } from "../../kit/dialog.tsx";
import { Checkbox } from "../../kit/field.tsx";
import { SecretBox } from "../../kit/secret-box.tsx";
import { useWords } from "../../words/use-words.ts";
import { keysWords } from "./keys-words.ts";
import css from "./keys.module.css";

interface MadeKeyProps {
  readonly made: CreatedDashboardApiKey;
  readonly onDone: () => void;
}

/** The key is shown once, so the dialog stays until the person says that it is stored. */
export function MadeKey({ made, onDone }: MadeKeyProps) {
  const words = useWords(keysWords);
  const [isStored, setStored] = useState(false);
  const command = `curl ${location.origin}/api/v1/accounts \\\n  -H "Authorization: Bearer $KEY"`;
  return (
    <Dialog
      title={words.madeTitle(made.key.name)}
      footer={
        <Button kind="primary" disabled={!isStored} onClick={onDone}>
          {words.done}
        </Button>
      }
    >
      <div className="stack">
        <p className="sm quiet">{words.madeText}</p>
        <SecretBox text={made.secret} label={words.copyKey} />
        <p className="xs muted">{words.tryIt}</p>
        <pre className={css.code}>{command}</pre>
        <Checkbox checked={isStored} onChange={({ target }) => setStored(target.checked)}>
          {words.stored}
        </Checkbox>
      </div>
    </Dialog>
  );
}
