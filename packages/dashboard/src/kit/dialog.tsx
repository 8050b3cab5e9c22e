import { X } from "lucide-react";
import { type ReactNode, useEffect, useEffectEvent, useId, useRef } from "react";
import { kitWords } from "../words/kit-words.ts";
import { useWords } from "../words/use-words.ts";
import { Button } from "./button.tsx";
import { classNames } from "./class-names.ts";
import css from "./dialog.module.css";

interface DialogProps {
  readonly title: ReactNode;
  readonly children: ReactNode;
  /** The buttons; the one that carries out what the title says stands last. */
  readonly footer?: ReactNode;
  /** Esc, a click beside the dialog, and its close button. Without it the dialog stays. */
  readonly onClose?: (() => void) | undefined;
  readonly wide?: boolean | undefined;
}

/**
 * The browser's own modal dialog: everything behind it is inert, and focus goes back to what opened
 * it. It is open while it is mounted.
 */
export function Dialog({ title, children, footer, onClose, wide = false }: DialogProps) {
  const id = useId();
  const words = useWords(kitWords);
  const dialog = useModal(onClose);
  return (
    <dialog ref={dialog} className={classNames(css.dialog, wide && css.wide)} aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {footer === undefined && onClose && (
          <Button
            kind="ghost"
            small
            icon={X}
            aria-label={words.close}
            className="push"
            onClick={onClose}
          />
        )}
      </header>
      <div className={css.body}>{children}</div>
      {footer !== undefined && <footer>{footer}</footer>}
    </dialog>
  );
}

interface DrawerProps extends DialogProps {
  readonly onClose: () => void;
}

/** Settings beside the list that they belong to; on a phone it comes from below. */
export function Drawer({ title, children, footer, onClose }: DrawerProps) {
  const id = useId();
  const words = useWords(kitWords);
  const dialog = useModal(onClose);
  return (
    <dialog ref={dialog} className={css.drawer} aria-labelledby={id}>
      <header>
        <h2 id={id} className="clip">
          {title}
        </h2>
        <Button kind="ghost" icon={X} aria-label={words.close} className="push" onClick={onClose} />
      </header>
      <div className={css.body}>{children}</div>
      {footer !== undefined && <footer>{footer}</footer>}
    </dialog>
  );
}

function useModal(onClose: (() => void) | undefined) {
  const dialog = useRef<HTMLDialogElement>(null);
  const close = useEffectEvent(() => onClose?.());
  useEffect(() => {
    const element = dialog.current;
    if (element === null) return undefined;
    const opener = document.activeElement;
    element.showModal();
    const cancel = (event: Event) => {
      event.preventDefault();
      close();
    };
    // A press that begins and ends on the dialog itself is one on the ground behind it.
    const press = (event: MouseEvent) => {
      if (event.target === element) close();
    };
    element.addEventListener("cancel", cancel);
    element.addEventListener("mousedown", press);
    return () => {
      element.removeEventListener("cancel", cancel);
      element.removeEventListener("mousedown", press);
      element.close();
      // What opened it can be gone, with the row that it stood in.
      const next = opener?.isConnected ? opener : document.querySelector("#main");
      if (next instanceof HTMLElement) next.focus();
    };
  }, []);
  return dialog;
}
