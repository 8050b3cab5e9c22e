import type { PostSummary } from "@postrider/client";
import { useLocation } from "wouter";
import { Button } from "../kit/button.tsx";
import { Dialog } from "../kit/dialog.tsx";
import { kitWords } from "../words/kit-words.ts";
import { useWords } from "../words/use-words.ts";
import css from "./conflict-dialog.module.css";
import { Difference, useChangedPost } from "./conflict-dialog.tsx";
import { postWords } from "./post-words.ts";

interface PublishChangedDialogProps {
  /** As it was shown when "Publish now" was pressed. */
  readonly seen: Pick<PostSummary, "id" | "content">;
  readonly onClose: () => void;
}

/**
 * The post was changed by another person before it was published. It is published from its page,
 * which shows all that would go out.
 */
export function PublishChangedDialog({ seen, onClose }: PublishChangedDialogProps) {
  const { conflict: words, open } = useWords(postWords);
  const kit = useWords(kitWords);
  const [, navigate] = useLocation();
  const { data, title } = useChangedPost(seen.id);
  const look = () => {
    onClose();
    navigate(`/posts/${seen.id}`);
  };
  return (
    <Dialog
      title={title}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{kit.close}</Button>
          <Button kind="primary" onClick={look}>
            {open}
          </Button>
        </>
      }
    >
      <p className="sm quiet">{words.publishHint}</p>
      {data !== undefined && data.post.content !== seen.content && (
        <dl className={css.diff}>
          <Difference label={words.text} before={seen.content} after={data.post.content} />
        </dl>
      )}
    </Dialog>
  );
}
