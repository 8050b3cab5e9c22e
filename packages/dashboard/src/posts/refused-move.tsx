import { PostriderError } from "@postrider/client";
import { Button, LinkButton } from "../kit/button.tsx";
import { Dialog } from "../kit/dialog.tsx";
import { ErrorNotice } from "../kit/error-notice.tsx";
import { kitWords } from "../words/kit-words.ts";
import { useWords } from "../words/use-words.ts";
import { ConflictDialog } from "./conflict-dialog.tsx";
import { postWords } from "./post-words.ts";
import { refusedMove, type RefusedMove as Refused } from "./refused-moves.ts";

/** Why a post was not moved: both versions, or the reason and the way to its page. */
export function RefusedMove({ move, error }: Refused) {
  const kit = useWords(kitWords);
  const words = useWords(postWords);
  const close = () => refusedMove.set(undefined);
  if (error instanceof PostriderError && error.status === 412)
    return (
      <ConflictDialog
        postId={move.id}
        mine={{ scheduledAt: move.to }}
        onKeepTheirs={close}
        onUseMine={close}
      />
    );
  return (
    <Dialog
      title={words.move.refused}
      onClose={close}
      footer={
        <>
          <LinkButton href={`/posts/${move.id}`}>{words.open}</LinkButton>
          <Button kind="primary" onClick={close}>
            {kit.close}
          </Button>
        </>
      }
    >
      <ErrorNotice error={error} />
    </Dialog>
  );
}
