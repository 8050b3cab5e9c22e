import { CircleCheck, Undo2 } from "lucide-react";
import { type ReactNode, useEffect, useRef } from "react";
import { useKeys } from "../keys/use-keys.ts";
import { createStore, useStore } from "../settings/create-store.ts";
import { kitWords } from "../words/kit-words.ts";
import { useWords } from "../words/use-words.ts";
import { Button } from "./button.tsx";
import css from "./toast.module.css";

const SHOWN_MS = 10_000;
const MAX_NOTICES = 50;

export interface Notice {
  readonly id: number;
  readonly text: ReactNode;
  /** The button and the key `U` call it, while the toast is seen. */
  readonly onUndo?: (() => void) | undefined;
  readonly at: number;
}

const current = createStore<Notice | undefined>(undefined);
const past = createStore<readonly Notice[]>([]);
let lastId = 0;

/** Says what was done, with a way back. Errors are never toasts: they stand where they belong. */
export function showToast(text: ReactNode, onUndo?: () => void): void {
  lastId += 1;
  const notice: Notice = { id: lastId, text, onUndo, at: Date.now() };
  past.set([notice, ...past.get()].slice(0, MAX_NOTICES));
  current.set(notice);
}

/** All notices of this visit, newest first. */
export function useNotices(): readonly Notice[] {
  return useStore(past);
}

/** Shows the newest toast; hover and focus hold it. */
export function ToastBar() {
  const notice = useStore(current);
  return (
    <div className={css.bar} role="status">
      {notice && <Toast key={notice.id} notice={notice} />}
    </div>
  );
}

function Toast({ notice }: { readonly notice: Notice }) {
  const { text, onUndo } = notice;
  const words = useWords(kitWords);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const timer = setInterval(() => {
      const isHeld = box.current?.matches(":hover, :focus-within") ?? false;
      if (!isHeld && Date.now() - notice.at >= SHOWN_MS) current.set(undefined);
    }, 500);
    return () => clearInterval(timer);
  }, [notice]);
  const undo = () => {
    current.set(undefined);
    onUndo?.();
  };
  useKeys(onUndo === undefined ? {} : { u: undo });
  return (
    <div ref={box} className={css.toast}>
      <CircleCheck className="i" aria-hidden="true" />
      <span>{text}</span>
      {onUndo && (
        <Button small icon={Undo2} shortcut="U" className="push" onClick={undo}>
          {words.undo}
        </Button>
      )}
    </div>
  );
}
