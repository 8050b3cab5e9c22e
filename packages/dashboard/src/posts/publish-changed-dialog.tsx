import type { PostSummary } from "@postrider/client";
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { useLocation } from "wouter";
import { Button } from "../kit/button.tsx";
import { Dialog } from "../kit/dialog.tsx";
import { useSettings } from "../settings/settings.ts";
import { clockOf } from "../time/format-time.ts";
import { toZoned } from "../time/place-in-zone.ts";
import { kitWords } from "../words/kit-words.ts";
import { useWords } from "../words/use-words.ts";
import css from "./conflict-dialog.module.css";
import { Difference } from "./conflict-dialog.tsx";
import { postWords } from "./post-words.ts";
import { postsApi } from "./posts-api.ts";

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
  const { zone, language } = useSettings();
  const [, navigate] = useLocation();
  const { data, refetch } = useQuery(postsApi.post(seen.id));
  useEffect(() => void refetch(), [refetch]);
  const changedAt = data && clockOf(toZoned(data.post.updatedAt, zone), language);
  const look = () => {
    onClose();
    navigate(`/posts/${seen.id}`);
  };
  return (
    <Dialog
      title={words.title(changedAt ?? "…")}
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
