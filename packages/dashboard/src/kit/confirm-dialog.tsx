import type { ReactNode } from "react";
import { kitWords } from "../words/kit-words.ts";
import { useWords } from "../words/use-words.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { ErrorNotice } from "./error-notice.tsx";
import { useAct } from "./use-act.ts";

interface ConfirmDialogProps {
  readonly title: string;
  /** What really happens. */
  readonly children: ReactNode;
  /** What the last click does, in words. */
  readonly confirm: string;
  /** What the other button keeps; "Cancel" unless it is given. */
  readonly keep?: string | undefined;
  readonly act: () => Promise<unknown>;
  readonly onClose: () => void;
  /** What an error means here, where there is more to say than the error itself. */
  readonly errorTitle?: ((error: unknown) => string | undefined) | undefined;
}

/** Asks once before what cannot be undone. A refusal stands in the dialog, which stays open. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, children, confirm, keep, act, onClose, errorTitle } = props;
  const { cancel } = useWords(kitWords);
  const { run, isBusy, error } = useAct(act);
  return (
    <Dialog
      title={title}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{keep ?? cancel}</Button>
          <Button kind="danger-solid" busy={isBusy} onClick={run}>
            {confirm}
          </Button>
        </>
      }
    >
      {children}
      {error !== undefined && <ErrorNotice error={error} title={errorTitle?.(error)} />}
    </Dialog>
  );
}
