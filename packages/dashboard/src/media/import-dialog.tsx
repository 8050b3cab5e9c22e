import { useId, useState } from "react";
import { Button } from "../kit/button.tsx";
import { Dialog } from "../kit/dialog.tsx";
import { Field, Input } from "../kit/field.tsx";
import { kitWords } from "../words/kit-words.ts";
import { useWords } from "../words/use-words.ts";
import { mediaWords } from "./media-words.ts";

interface ImportDialogProps {
  readonly onImport: (url: string) => void;
  readonly onClose: () => void;
}

export function ImportDialog({ onImport, onClose }: ImportDialogProps) {
  const words = useWords(mediaWords);
  const kit = useWords(kitWords);
  const [url, setUrl] = useState("");
  const form = useId();
  return (
    <Dialog
      title={words.importTitle}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{kit.cancel}</Button>
          <Button kind="primary" type="submit" form={form}>
            {words.import}
          </Button>
        </>
      }
    >
      <form
        id={form}
        onSubmit={(event) => {
          event.preventDefault();
          onImport(url.trim());
          onClose();
        }}
      >
        <Field label={words.address} hint={words.addressHint}>
          {(control) => (
            <Input
              {...control}
              type="url"
              required
              pattern="[Hh][Tt][Tt][Pp][Ss]?://.+"
              placeholder="https://"
              value={url}
              onChange={({ target }) => setUrl(target.value)}
            />
          )}
        </Field>
      </form>
    </Dialog>
  );
}
