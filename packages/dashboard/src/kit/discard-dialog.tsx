import { kitWords } from "../words/kit-words.ts";
import { useWords } from "../words/use-words.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";

interface DiscardDialogProps {
  readonly onKeep: () => void;
  readonly onDiscard: () => void;
}

/** What a drawer asks when it is closed with changes that were not saved. */
export function DiscardDialog({ onKeep, onDiscard }: DiscardDialogProps) {
  const words = useWords(kitWords);
  return (
    <Dialog
      title={words.discardTitle}
      onClose={onKeep}
      footer={
        <>
          <Button onClick={onKeep}>{words.goOn}</Button>
          <Button kind="danger-solid" onClick={onDiscard}>
            {words.discard}
          </Button>
        </>
      }
    >
      <p className="sm quiet">{words.discardHint}</p>
    </Dialog>
  );
}
