import type { ReactNode } from "react";
import { kitWords } from "../words/kit-words.ts";
import { useWords } from "../words/use-words.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { ErrorNotice } from "./error-notice.tsx";
import { useAct } from "./use-act.ts";

interface QuestionProps {
  readonly title: string;
  /** What really happens. */
  readonly children: ReactNode;
  /** What the last click does, in words. */
  readonly confirm: string;
  readonly keep: string;
  readonly isBusy?: boolean;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

function Question({ title, children, confirm, keep, isBusy, onConfirm, onClose }: QuestionProps) {
  return (
    <Dialog
      title={title}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{keep}</Button>
          <Button kind="danger-solid" busy={isBusy} onClick={onConfirm}>
            {confirm}
          </Button>
        </>
      }
    >
      {children}
    </Dialog>
  );
}

interface ConfirmDialogProps extends Pick<
  QuestionProps,
  "title" | "children" | "confirm" | "onClose"
> {
  /** What the other button keeps; "Cancel" unless it is given. */
  readonly keep?: string | undefined;
  readonly act: () => Promise<unknown>;
  /** What an error means here, where there is more to say than the error itself. */
  readonly errorTitle?: ((error: unknown) => string | undefined) | undefined;
}

/** Asks once before what cannot be undone. A refusal stands in the dialog, which stays open. */
export function ConfirmDialog({ children, keep, act, errorTitle, ...rest }: ConfirmDialogProps) {
  const { cancel } = useWords(kitWords);
  const { run, isBusy, error } = useAct(act);
  return (
    <Question {...rest} keep={keep ?? cancel} isBusy={isBusy} onConfirm={run}>
      {children}
      {error !== undefined && <ErrorNotice error={error} title={errorTitle?.(error)} />}
    </Question>
  );
}

interface DiscardDialogProps {
  readonly onKeep: () => void;
  readonly onDiscard: () => void;
}

/** What a drawer asks when it is closed with changes that were not saved. */
export function DiscardDialog({ onKeep, onDiscard }: DiscardDialogProps) {
  const { discardTitle, goOn, discard, discardHint } = useWords(kitWords);
  const texts = { title: discardTitle, keep: goOn, confirm: discard };
  return (
    <Question {...texts} onConfirm={onDiscard} onClose={onKeep}>
      <p className="sm quiet">{discardHint}</p>
    </Question>
  );
}
