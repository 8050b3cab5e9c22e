import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect } from "react";
import { api } from "../api/api.ts";
import { Button } from "../kit/button.tsx";
import { Dialog } from "../kit/dialog.tsx";
import { ErrorNotice } from "../kit/error-notice.tsx";
import { Time } from "../kit/time.tsx";
import { useAct } from "../kit/use-act.ts";
import { useSettings } from "../settings/settings.ts";
import { clockOf } from "../time/format-time.ts";
import { toZoned } from "../time/place-in-zone.ts";
import { useWords } from "../words/use-words.ts";
import css from "./conflict-dialog.module.css";
import { postWords } from "./post-words.ts";
import { postsApi } from "./posts-api.ts";

interface ConflictDialogProps {
  readonly postId: string;
  /** What this page wanted to write. */
  readonly mine: { readonly scheduledAt?: string; readonly content?: string };
  readonly onKeepTheirs: () => void;
  /** After the own version was written over the one that is shown here. */
  readonly onUseMine: () => void;
}

/**
 * The post was changed by another person meanwhile (412). Both versions stand side by side; using
 * the own one names the version that is seen here, so that a third change is noticed as well.
 */
export function ConflictDialog({ postId, mine, onKeepTheirs, onUseMine }: ConflictDialogProps) {
  const words = useWords(postWords).conflict;
  const { data, title } = useChangedPost(postId);
  const { run, isBusy, error } = useAct(async () => {
    await api.updatePost(postId, mine, { ifMatch: data?.etag });
    onUseMine();
  });
  return (
    <Dialog
      title={title}
      onClose={onKeepTheirs}
      footer={
        <>
          <Button onClick={onKeepTheirs}>{words.keep}</Button>
          <Button kind="primary" busy={isBusy} disabled={data === undefined} onClick={run}>
            {words.mine}
          </Button>
        </>
      }
    >
      <p className="sm quiet">{words.hint}</p>
      <dl className={css.diff}>
        {mine.scheduledAt !== undefined && data && (
          <Difference
            label={words.time}
            after={<Time at={mine.scheduledAt} show="day" />}
            before={
              data.post.scheduledAt === null ? (
                words.noTime
              ) : (
                <Time at={data.post.scheduledAt} show="day" />
              )
            }
          />
        )}
        {mine.content !== undefined && data && (
          <Difference label={words.text} before={data.post.content} after={mine.content} />
        )}
      </dl>
      {error !== undefined && <ErrorNotice error={error} />}
    </Dialog>
  );
}

/** The post as it is now, and a title that says when it was changed. */
export function useChangedPost(postId: string) {
  const words = useWords(postWords).conflict;
  const { zone, language } = useSettings();
  const { data, refetch } = useQuery(postsApi.post(postId));
  useEffect(() => void refetch(), [refetch]);
  const changedAt = data && clockOf(toZoned(data.post.updatedAt, zone), language);
  return { data, title: words.title(changedAt ?? "…") };
}

interface DifferenceProps {
  readonly label: string;
  readonly before: ReactNode;
  readonly after: ReactNode;
}

export function Difference({ label, before, after }: DifferenceProps) {
  return (
    <>
      <dt>{label}</dt>
      <dd>
        <del>{before}</del> <ins>{after}</ins>
      </dd>
    </>
  );
}
