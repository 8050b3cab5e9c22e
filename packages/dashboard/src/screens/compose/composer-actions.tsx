import { CloudCheck, CloudOff, Eye, RotateCcw, X } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Button } from "../../kit/button.tsx";
import { Drawer } from "../../kit/dialog.tsx";
import { showToast } from "../../kit/toast.tsx";
import { useSettings } from "../../settings/settings.ts";
import { clockWithSecondsOf } from "../../time/format-time.ts";
import { useWords } from "../../words/use-words.ts";
import { composeWords } from "./compose-words.ts";
import css from "./compose.module.css";
import { isWritten } from "./draft.ts";
import type { DraftHandle } from "./use-draft.ts";

interface ActionsProps {
  readonly handle: DraftHandle;
  readonly onRestart: () => void;
  readonly onClose: () => void;
  /** The preview, which a phone shows in a sheet. */
  readonly children: ReactNode;
}

/** At the end of the head: whether the draft is kept, and the ways out. */
export function ComposerActions({ handle, onRestart, onClose, children }: ActionsProps) {
  const words = useWords(composeWords);
  const [isPreview, setPreview] = useState(false);
  const { draft, change, isKept } = handle;
  const restart = () => {
    onRestart();
    showToast(words.startedAnew, () => change(() => draft));
  };
  return (
    <>
      {isKept ? <Kept at={draft.keptAt} /> : <NotKept />}
      {isWritten(draft) && (
        <Button kind="ghost" icon={RotateCcw} aria-label={words.startAnew} onClick={restart} />
      )}
      <span className="only-s">
        <Button
          kind="ghost"
          icon={Eye}
          aria-label={words.preview}
          onClick={() => setPreview(true)}
        />
      </span>
      <Button kind="ghost" icon={X} aria-label={words.close} onClick={onClose} />
      {isPreview && (
        <Drawer title={words.preview} onClose={() => setPreview(false)}>
          <div className="stack">{children}</div>
        </Drawer>
      )}
    </>
  );
}

function Kept({ at }: { readonly at: number }) {
  const words = useWords(composeWords);
  const { zone } = useSettings();
  if (at === 0) return null;
  const zoned = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone);
  const clock = clockWithSecondsOf(zoned);
  return (
    <span className="xs muted row nowrap num">
      <CloudCheck className="i i-s" aria-hidden="true" />
      <span className="not-s">{words.kept(clock)}</span>
      <span className="only-s">
        <span className="sr">{words.kept(clock)}</span>
        <span aria-hidden="true" className={css.keptAt}>
          {clock}
        </span>
      </span>
    </span>
  );
}

function NotKept() {
  const words = useWords(composeWords);
  return (
    <span className="xs row">
      <CloudOff className="i i-s" aria-hidden="true" />
      {words.notKept}
    </span>
  );
}
