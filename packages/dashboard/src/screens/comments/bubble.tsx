import type { Comment, PlatformId } from "@postrider/client";
import type { InboxCommentJson } from "@postrider/rest/dashboard/inbox";
import { useMutation } from "@tanstack/react-query";
import { Check, Eye, EyeOff, Reply, RotateCcw } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "../../kit/button.tsx";
import { classNames } from "../../kit/class-names.ts";
import { ErrorNotice } from "../../kit/error-notice.tsx";
import { FieldError } from "../../kit/field.tsx";
import { StatusLabel } from "../../kit/status.tsx";
import { Time } from "../../kit/time.tsx";
import { showToast } from "../../kit/toast.tsx";
import { langOf } from "../../posts/lang-of.ts";
import { useCan } from "../../session/session-context.ts";
import { useWords } from "../../words/use-words.ts";
import { commentsApi, type Place } from "./comments-api.ts";
import { commentsWords } from "./comments-words.ts";
import css from "./comments.module.css";
import { useCommentRules } from "./use-comment-rules.ts";
import { useHide } from "./use-hide.ts";

type Shown = Pick<Comment, "text" | "author" | "createdAt" | "likeCount" | "replyCount" | "hidden">;

interface BubbleProps {
  readonly comment: Shown;
  readonly isChosen?: boolean;
  /** Written by the account itself. */
  readonly isOwn?: boolean;
  readonly children: ReactNode;
}

/** What a person wrote, only ever as text. */
export function Bubble({ comment, isChosen = false, isOwn = false, children }: BubbleProps) {
  const words = useWords(commentsWords);
  const { text, author } = comment;
  return (
    <article className={classNames(css.bubble, isChosen && css.chosen, isOwn && css.me)}>
      <header>
        <b>{author.username ?? words.unnamed}</b>
        <Notes comment={comment} />
      </header>
      <p className={css.text} lang={langOf(text)}>
        {text === "" ? words.noText : text}
      </p>
      {children}
    </article>
  );
}

function Notes({ comment }: { readonly comment: Shown }) {
  const words = useWords(commentsWords);
  const { createdAt, hidden } = comment;
  const likes = comment.likeCount ?? 0;
  const replies = comment.replyCount ?? 0;
  const notes = [
    likes > 0 && words.likes(likes),
    replies > 0 && words.replies(replies),
    hidden && words.hiddenMark,
  ].filter(Boolean);
  return (
    <span className="muted xs num">
      <Time at={createdAt} />
      {notes.length > 0 && ` · ${notes.join(" · ")}`}
    </span>
  );
}

/** What can be done about the comment that is answered. */
export function SelectedButtons({ comment }: { readonly comment: InboxCommentJson }) {
  const words = useWords(commentsWords);
  const canWrite = useCan()("comments:write");
  const answered = comment.state === "answered" && (
    <StatusLabel status="sent">{words.isAnswered}</StatusLabel>
  );
  if (!canWrite) return answered;
  return (
    <HideFoot place={comment} platform={comment.platform} isHidden={comment.hidden}>
      {answered}
      <StateButton comment={comment} />
    </HideFoot>
  );
}

function StateButton({ comment: { id, state } }: { readonly comment: InboxCommentJson }) {
  const words = useWords(commentsWords);
  const isDone = state === "done";
  const setting = useMutation({
    mutationFn: (next: "open" | "done") => commentsApi.setState(id, next),
    onSuccess: (_comment, next) =>
      showToast(next === "done" ? words.isDone : words.isOpen, () =>
        setting.mutate(next === "done" ? "open" : "done"),
      ),
  });
  return (
    <>
      <Button
        kind="ghost"
        small
        icon={isDone ? RotateCcw : Check}
        busy={setting.isPending}
        onClick={() => setting.mutate(isDone ? "open" : "done")}
      >
        {isDone ? words.reopen : words.done}
      </Button>
      {setting.error !== null && <ErrorNotice error={setting.error} />}
    </>
  );
}

interface OtherButtonsProps {
  readonly place: Place;
  readonly comment: Comment;
  readonly platform: string;
  /** Undefined for one that is not in the list. */
  readonly onReply: (() => void) | undefined;
}

export function OtherButtons({ place, comment, platform, onReply }: OtherButtonsProps) {
  const words = useWords(commentsWords);
  if (!useCan()("comments:write")) return null;
  return (
    <HideFoot
      place={place}
      platform={platform}
      isHidden={comment.hidden}
      before={
        onReply && (
          <Button kind="ghost" small icon={Reply} onClick={onReply}>
            {words.replyHere}
          </Button>
        )
      }
    />
  );
}

interface HideFootProps {
  readonly place: Place;
  readonly platform: string;
  readonly isHidden: boolean;
  /** In front of the button that hides. */
  readonly before?: ReactNode;
  readonly children?: ReactNode;
}

function HideFoot(props: HideFootProps) {
  const { place, platform, isHidden: isHiddenThere, before, children } = props;
  const words = useWords(commentsWords);
  const canHide = useCommentRules(platform as PlatformId)?.comments.hide === true;
  const { isHidden, isBusy, error, failure, toggle } = useHide(place, isHiddenThere);
  return (
    <>
      <footer>
        {isHidden && (
          <span className="xs muted row">
            <EyeOff className="i i-s" aria-hidden="true" />
            {words.onlyYou}
          </span>
        )}
        {before}
        {canHide && (
          <Button kind="ghost" small icon={isHidden ? Eye : EyeOff} busy={isBusy} onClick={toggle}>
            {isHidden ? words.showAgain : words.hide}
          </Button>
        )}
        {children}
      </footer>
      {error !== undefined && <ErrorNotice error={error} />}
      {failure !== null && (
        <FieldError>
          {words.hideFailed} {failure.message}
        </FieldError>
      )}
    </>
  );
}
