import { useQueryClient } from "@tanstack/react-query";
import { RefreshCw } from "lucide-react";
import { useEffect } from "react";
import { useSearchParams } from "wouter";
import { Button } from "../../kit/button.tsx";
import { classNames } from "../../kit/class-names.ts";
import { Page } from "../../kit/page.tsx";
import { useIsNarrow } from "../../kit/use-media.ts";
import { distanceOf } from "../../time/format-time.ts";
import { useNow } from "../../time/use-now.ts";
import { kitWords } from "../../words/kit-words.ts";
import { useWords } from "../../words/use-words.ts";
import { CommentList } from "./comment-list.tsx";
import { commentsWords } from "./comments-words.ts";
import css from "./comments.module.css";
import { parseView, toParameters, type View } from "./filters.ts";
import { Thread } from "./thread.tsx";
import { useInbox, useSelected } from "./use-inbox.ts";

/** What readers wrote, and the conversation around one of their comments. */
export function CommentsScreen() {
  const words = useWords(commentsWords);
  const isNarrow = useIsNarrow();
  const [parameters, setParameters] = useSearchParams();
  const view = parseView(parameters);
  const inbox = useInbox(view);
  const { comment, isGone } = useSelected(view.comment, inbox.comments);
  const show = (next: Partial<View>, replace = false) =>
    setParameters(toParameters({ ...view, ...next }), { replace });
  useFirst(view, isNarrow ? undefined : inbox.comments[0]?.id, (id) => show({ comment: id }, true));
  const back = () => show({ comment: undefined });
  return (
    <Page
      title={words.title}
      actions={<ReadAgain inbox={inbox} />}
      className={classNames(css.page, view.comment !== undefined && css.open)}
    >
      <div className={css.inbox}>
        <CommentList view={view} inbox={inbox} onShow={show} />
        {comment === undefined ? (
          <div className={css.right}>
            {isNarrow && view.comment !== undefined && (
              <Button className={css.backOnly} onClick={back}>
                {words.back}
              </Button>
            )}
            <p className="hint pad">
              {isGone ? words.gone : inbox.comments.length > 0 && words.choose}
            </p>
          </div>
        ) : (
          <Thread
            key={comment.id}
            comment={comment}
            inbox={inbox.comments}
            onBack={back}
            onSelect={(id) => show({ comment: id })}
          />
        )}
      </div>
    </Page>
  );
}

/** Beside the list there is room for a conversation: that of the first comment. */
function useFirst(view: View, first: string | undefined, onChoose: (id: string) => void): void {
  const isNone = view.comment === undefined && first !== undefined;
  useEffect(() => {
    if (isNone) onChoose(first);
    // oxlint-disable-next-line react/exhaustive-deps -- only when it becomes true
  }, [isNone]);
}

function ReadAgain({ inbox }: { readonly inbox: ReturnType<typeof useInbox> }) {
  const words = useWords(commentsWords);
  const kit = useWords(kitWords);
  const client = useQueryClient();
  const now = useNow();
  const { readAt, isFetching } = inbox;
  const ms = readAt ? now.epochMilliseconds - Date.parse(readAt) : 0;
  return (
    <>
      {readAt !== undefined && (
        <span className="xs muted not-s">
          {readAt === null
            ? words.neverRead
            : words.readAt(distanceOf(Math.max(0, ms), kit.distance, 1))}
        </span>
      )}
      <Button
        kind="ghost"
        icon={RefreshCw}
        aria-label={words.readAgain}
        busy={isFetching}
        onClick={() => void client.invalidateQueries({ queryKey: ["comment", "list"] })}
      />
    </>
  );
}
