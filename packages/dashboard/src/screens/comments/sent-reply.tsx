import type { CommentAction, PlatformId } from "@postrider/client";
import type { InboxCommentJson } from "@postrider/rest/dashboard/inbox";
import { useQuery } from "@tanstack/react-query";
import { Button } from "../../kit/button.tsx";
import { classNames } from "../../kit/class-names.ts";
import { PLATFORMS } from "../../kit/platform-tile.tsx";
import { StatusLabel } from "../../kit/status.tsx";
import { Time } from "../../kit/time.tsx";
import { langOf } from "../../posts/lang-of.ts";
import { useAccountName } from "../../posts/use-accounts.ts";
import { useWords } from "../../words/use-words.ts";
import { commentsApi } from "./comments-api.ts";
import { commentsWords } from "./comments-words.ts";
import css from "./comments.module.css";
import type { useReply } from "./use-replies.ts";

interface SentReplyProps {
  readonly comment: InboxCommentJson;
  readonly actionId: string;
  readonly replying: ReturnType<typeof useReply>;
}

/** The reply that was accepted last, and what became of it. */
export function SentReply({ comment, actionId, replying }: SentReplyProps) {
  const words = useWords(commentsWords);
  const { data: action } = useQuery(commentsApi.action(actionId));
  const name = useAccountName(comment.accountId);
  if (action === undefined) return null;
  const text = action.text ?? "";
  return (
    <article className={classNames(css.bubble, css.me)}>
      <header>
        <b>{name}</b>
        <span className="muted xs num">
          <Time at={action.createdAt} />
        </span>
      </header>
      <p className={css.text} lang={langOf(text)}>
        {text}
      </p>
      <footer>
        <span role="status" className="row wrap">
          <Outcome action={action} platform={comment.platform as PlatformId} />
        </span>
        {action.status === "failed" && replying.reply.text === "" && (
          <Button small onClick={() => replying.writeAgain(text)}>
            {words.writeAgain}
          </Button>
        )}
      </footer>
    </article>
  );
}

interface OutcomeProps {
  readonly action: CommentAction;
  readonly platform: PlatformId;
}

function Outcome({ action: { status, error }, platform }: OutcomeProps) {
  const words = useWords(commentsWords);
  const { name } = PLATFORMS[platform];
  if (status === "pending") return <StatusLabel status="publishing">{words.sending}</StatusLabel>;
  if (status === "succeeded") return <StatusLabel status="sent">{words.isThere(name)}</StatusLabel>;
  if (error?.code === "outcome_unknown")
    return (
      <>
        <StatusLabel status="unknown" />
        <span className="xs">{words.notKnown(name)}</span>
      </>
    );
  return (
    <>
      <StatusLabel status="failed">{words.notThere}</StatusLabel>
      <span className="xs">{error?.message}</span>
    </>
  );
}
