import type { Comment, PlatformId } from "@postrider/client";
import type { InboxCommentJson } from "@postrider/rest/dashboard/inbox";
import { useInfiniteQuery, type UseInfiniteQueryResult } from "@tanstack/react-query";
import { ArrowLeft, ArrowUpRight } from "lucide-react";
import { Button } from "../../kit/button.tsx";
import { ErrorNotice } from "../../kit/error-notice.tsx";
import { PLATFORMS } from "../../kit/platform-tile.tsx";
import { Thumbnail } from "../../posts/thumbnail.tsx";
import { useAccountName, useAccounts } from "../../posts/use-accounts.ts";
import { useWords } from "../../words/use-words.ts";
import { Bubble, OtherButtons, SelectedButtons } from "./bubble.tsx";
import { commentsApi } from "./comments-api.ts";
import { commentsWords } from "./comments-words.ts";
import css from "./comments.module.css";
import { ReplyForm } from "./reply-form.tsx";
import { SentReply } from "./sent-reply.tsx";
import { ToAccounts } from "./to-accounts.tsx";
import { useFirstMedia, usePostTitle, useTarget } from "./use-post-title.ts";
import { useReply } from "./use-replies.ts";

interface ThreadProps {
  readonly comment: InboxCommentJson;
  /** The comments of the list, to lead to those of this conversation that are in it. */
  readonly inbox: readonly InboxCommentJson[];
  readonly onBack: () => void;
  readonly onSelect: (id: string) => void;
}

/** One comment, what else is written below its publication, and the reply. */
export function Thread({ comment, inbox, onBack, onSelect }: ThreadProps) {
  const words = useWords(commentsWords);
  const thread = useInfiniteQuery(commentsApi.thread(comment.accountId, comment.mediaId));
  const read = thread.data?.pages.flatMap(({ comments }) => comments) ?? [];
  // The inbox keeps the beginning of a long text; the platform has all of it.
  const whole = read.find((other) => other.id === comment.commentId);
  const replying = useReply(comment.id, comment);
  const { actionId } = replying.reply;
  const author = comment.author.username ?? words.unnamed;
  return (
    <section className={css.right} aria-label={words.conversation(author)}>
      <Head comment={comment} onBack={onBack} />
      <div className={css.thread}>
        <Bubble comment={{ ...comment, text: whole?.text ?? comment.text }} isChosen>
          <SelectedButtons comment={comment} />
        </Bubble>
        {actionId !== undefined && (
          <SentReply comment={comment} replying={replying} actionId={actionId} />
        )}
        <Others comment={comment} read={read} inbox={inbox} onSelect={onSelect} />
        <ThreadFoot thread={thread} isAlone={read.every((other) => other === whole)} />
      </div>
      <ReplyForm comment={comment} author={author} replying={replying} />
    </section>
  );
}

interface OthersProps extends Pick<ThreadProps, "comment" | "inbox" | "onSelect"> {
  readonly read: readonly Comment[];
}

function Others({ comment, read, inbox, onSelect }: OthersProps) {
  const { accountId, mediaId, commentId, platform } = comment;
  const username = useAccounts().get(accountId)?.username;
  const select = (id: string) => {
    const row = inbox.find((one) => one.commentId === id);
    return row && (() => onSelect(row.id));
  };
  return read
    .filter(({ id }) => id !== commentId)
    .map((other) => (
      <Bubble key={other.id} comment={other} isOwn={other.author.username === username}>
        <OtherButtons
          place={{ accountId, mediaId, commentId: other.id }}
          comment={other}
          platform={platform}
          onReply={select(other.id)}
        />
      </Bubble>
    ));
}

interface ThreadFootProps {
  readonly thread: Pick<
    UseInfiniteQueryResult,
    "error" | "refetch" | "isSuccess" | "hasNextPage" | "isFetchingNextPage" | "fetchNextPage"
  >;
  readonly isAlone: boolean;
}

function ThreadFoot({ thread, isAlone }: ThreadFootProps) {
  const words = useWords(commentsWords);
  const { error, refetch, isSuccess, hasNextPage, isFetchingNextPage, fetchNextPage } = thread;
  if (error !== null)
    return (
      <>
        <ErrorNotice error={error} title={words.threadFailed} onRetry={() => void refetch()} />
        <ToAccounts error={error} />
      </>
    );
  if (hasNextPage)
    return (
      <Button small busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
        {words.showMore}
      </Button>
    );
  return isSuccess && isAlone && <p className="hint">{words.noOthers}</p>;
}

interface HeadProps {
  readonly comment: InboxCommentJson;
  readonly onBack: () => void;
}

function Head({ comment, onBack }: HeadProps) {
  const words = useWords(commentsWords);
  const title = usePostTitle(comment);
  const mediaId = useFirstMedia(comment);
  const permalink = useTarget(comment)?.permalink ?? null;
  const account = useAccountName(comment.accountId);
  const { name } = PLATFORMS[comment.platform as PlatformId];
  return (
    <header>
      <Button
        kind="ghost"
        small
        icon={ArrowLeft}
        aria-label={words.back}
        className="only-s"
        onClick={onBack}
      />
      {mediaId !== undefined && (
        <span className="not-s">
          <Thumbnail mediaId={mediaId} />
        </span>
      )}
      <div className={css.headText}>
        <b className="clip sm" title={title}>
          {title}
        </b>
        <span className="clip xs muted">
          {name} · {account}
        </span>
      </div>
      {permalink !== null && (
        <a className="push nowrap sm" href={permalink} target="_blank" rel="noreferrer">
          {words.openOn(name)} <ArrowUpRight className="i i-s" aria-hidden="true" />
        </a>
      )}
    </header>
  );
}
