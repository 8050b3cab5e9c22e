import { CloudOff, Info } from "lucide-react";
import { Button } from "../../kit/button.tsx";
import { Note } from "../../kit/card.tsx";
import { useSession } from "../../session/session-context.ts";
import { useWords } from "../../words/use-words.ts";
import { composeWords } from "./compose-words.ts";
import type { DraftHandle } from "./use-draft.ts";

interface StateNotesProps {
  readonly handle: DraftHandle;
  readonly onRestart: () => void;
}

/** What is known before anything is sent. */
export function StateNotes({ handle, onRestart }: StateNotesProps) {
  const words = useWords(composeWords);
  const { verified } = useSession().workspace;
  return (
    <>
      {!verified && (
        <Note icon={Info}>
          <b>{words.notVerified}</b> {words.notVerifiedHint}
        </Note>
      )}
      {!handle.isKept && (
        <Note tone="warn" icon={CloudOff} role="status">
          <strong>{words.notKept}</strong> {words.notKeptHint}
        </Note>
      )}
      {handle.isGone && (
        <Note
          tone="info"
          icon={Info}
          role="status"
          actions={
            <Button small onClick={onRestart}>
              {words.startAnew}
            </Button>
          }
        >
          <b>{words.sentElsewhere}</b>
        </Note>
      )}
    </>
  );
}
