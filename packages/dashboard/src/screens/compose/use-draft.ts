import { useEffect, useState } from "react";
import { isUploading } from "../../media/use-uploads.ts";
import { useWritten } from "../../session/written-text.ts";
import { dropDraft, dropUnwritten, keepDraft, parseDraft, readDraft } from "./draft-store.ts";
import { type Draft, textsOf } from "./draft.ts";

export interface DraftHandle {
  readonly draft: Draft;
  /** Keeps what is written at once, so that nothing depends on the page being closed well. */
  readonly change: (next: (draft: Draft) => Draft) => void;
  /** After it was sent. */
  readonly drop: () => void;
  /** Whether this browser keeps it. */
  readonly isKept: boolean;
  /** Whether another tab has sent it, or has logged out. */
  readonly isGone: boolean;
}

interface Held {
  readonly draft: Draft;
  readonly isKept: boolean;
  readonly isGone: boolean;
}

/**
 * The draft of a name, the same in all tabs of this browser: they share its text and, with it, the
 * key under which it is sent, so that two tabs cannot make two posts. It is kept before anything is
 * written, so that a second tab finds the key.
 */
export function useDraft(name: string, begin: (kept: Draft | undefined) => Draft): DraftHandle {
  const hold = (draft: Draft): Held => ({
    draft,
    isKept: keepDraft(localStorage, name, draft),
    isGone: false,
  });
  const [held, setHeld] = useState(() => hold(begin(readDraft(localStorage, name))));
  useWritten(...textsOf(held.draft));
  useEffect(() => {
    const follow = ({ key, oldValue, newValue }: StorageEvent) => {
      if (key !== name) return;
      const changed = parseDraft(newValue);
      // A composer that is left before anything was written takes its draft away.
      if (changed === undefined && parseDraft(oldValue)?.keptAt === 0) return;
      setHeld(({ draft, isKept }) => ({
        draft: changed ?? draft,
        isKept,
        isGone: changed === undefined,
      }));
    };
    const leave = () => {
      if (!isUploading(name)) dropUnwritten(localStorage, name);
    };
    // A file can have become ready since the draft was read.
    const kept = readDraft(localStorage, name);
    setHeld((held) =>
      kept !== undefined && kept.keptAt > held.draft.keptAt ? { ...held, draft: kept } : held,
    );
    addEventListener("storage", follow);
    addEventListener("pagehide", leave);
    return () => {
      removeEventListener("storage", follow);
      removeEventListener("pagehide", leave);
      leave();
    };
  }, [name]);
  const change = (next: (before: Draft) => Draft) =>
    setHeld(({ draft }) => hold({ ...next(draft), keptAt: Date.now() }));
  return { ...held, change, drop: () => dropDraft(localStorage, name) };
}
