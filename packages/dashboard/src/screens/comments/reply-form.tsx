import type { PlatformId } from "@postrider/client";
import type { InboxCommentJson } from "@postrider/rest/dashboard/inbox";
import { type SyntheticEvent, useId, useState } from "react";
import { isBlocked } from "../../api/sending.ts";
import { Button } from "../../kit/button.tsx";
import { Counter } from "../../kit/counter.tsx";
import { ErrorNotice } from "../../kit/error-notice.tsx";
import { FieldError, TextArea } from "../../kit/field.tsx";
import { PLATFORMS } from "../../kit/platform-tile.tsx";
import { langOf } from "../../posts/lang-of.ts";
import { useAccountName } from "../../posts/use-accounts.ts";
import { useCan } from "../../session/session-context.ts";
import { useWritten } from "../../session/written-text.ts";
import { useWords } from "../../words/use-words.ts";
import { countText } from "../compose/count-text.ts";
import { commentsWords } from "./comments-words.ts";
import css from "./comments.module.css";
import { ToAccounts } from "./to-accounts.tsx";
import { replyLimitOf, useCommentRules } from "./use-comment-rules.ts";
import type { useReply } from "./use-replies.ts";

type Replying = ReturnType<typeof useReply>;

interface ReplyFormProps {
  readonly comment: InboxCommentJson;
  readonly author: string;
  readonly replying: Replying;
}

/** The field of a public reply, or why there is none. */
export function ReplyForm(props: ReplyFormProps) {
  const words = useWords(commentsWords);
  const canWrite = useCan()("comments:write");
  const platform = props.comment.platform as PlatformId;
  const rules = useCommentRules(platform);
  if (!canWrite) return <p className={css.noReply}>{words.readOnly}</p>;
  if (rules === undefined) return null;
  if (rules.comments.reply === false)
    return <p className={css.noReply}>{words.noReplies(PLATFORMS[platform].name)}</p>;
  return (
    <Form
      {...props}
      limit={replyLimitOf(platform, rules)}
      isRestricted={rules.comments.reply === "restricted"}
    />
  );
}

interface FormProps extends ReplyFormProps {
  readonly limit: ReturnType<typeof replyLimitOf>;
  readonly isRestricted: boolean;
}

function Form({ comment, author, replying, limit, isRestricted }: FormProps) {
  const words = useWords(commentsWords);
  const id = useId();
  const [isTried, setTried] = useState(false);
  const { reply, isBusy, send } = replying;
  const count = countText(reply.text, limit.unit);
  const isEmpty = reply.text.trim() === "";
  const isLong = count > limit.max;
  const fault = isLong
    ? words.tooLong(PLATFORMS[comment.platform as PlatformId].name)
    : isTried && isEmpty && words.missing;
  const press = (event: SyntheticEvent) => {
    event.preventDefault();
    setTried(isEmpty || isLong);
    if (isEmpty || isLong) document.getElementById(id)?.focus();
    else send();
  };
  return (
    <form className={css.reply} data-foot="" onSubmit={press}>
      <label className="sr" htmlFor={id}>
        {words.replyTo(author)}
      </label>
      <ReplyText
        {...{ id, replying }}
        placeholder={words.replyTo(author)}
        isFaulty={fault !== false}
        onSend={press}
      />
      <Trouble replying={replying} />
      <div className="row">
        <span className="hint" id={`${id}-below`}>
          {fault ? (
            <FieldError>{fault}</FieldError>
          ) : (
            <Hint comment={comment} isRestricted={isRestricted} />
          )}
        </span>
        <span className="row push">
          {count > 0 && <Counter count={count} max={limit.max} />}
          <SendButton isAsked={reply.isAsked && !replying.isOutdated} isBusy={isBusy} />
        </span>
      </div>
    </form>
  );
}

interface ReplyTextProps {
  readonly id: string;
  readonly replying: Replying;
  readonly placeholder: string;
  readonly isFaulty: boolean;
  readonly onSend: (event: SyntheticEvent) => void;
}

function ReplyText({ id, replying, placeholder, isFaulty, onSend }: ReplyTextProps) {
  const { reply, isOutdated, write } = replying;
  useWritten(reply.text);
  return (
    <TextArea
      id={id}
      rows={2}
      placeholder={placeholder}
      lang={langOf(reply.text)}
      value={reply.text}
      readOnly={reply.isAsked && !isOutdated}
      aria-describedby={`${id}-below`}
      aria-invalid={isFaulty || undefined}
      onKeyDown={(event) => {
        if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) onSend(event);
      }}
      onChange={({ target }) => write(target.value)}
    />
  );
}

function SendButton({ isAsked, isBusy }: { readonly isAsked: boolean; readonly isBusy: boolean }) {
  const words = useWords(commentsWords);
  return (
    <Button kind="primary" type="submit" busy={isBusy} shortcut="⌘↵">
      {isAsked && !isBusy ? words.sendAgain : words.send}
    </Button>
  );
}

interface HintProps {
  readonly comment: InboxCommentJson;
  readonly isRestricted: boolean;
}

function Hint({ comment, isRestricted }: HintProps) {
  const words = useWords(commentsWords);
  const name = useAccountName(comment.accountId);
  const platform = PLATFORMS[comment.platform as PlatformId].name;
  return (
    <>
      {isRestricted && `${words.restricted(platform)} `}
      {words.publicAs(name)}
    </>
  );
}

function Trouble({ replying }: { readonly replying: Replying }) {
  const words = useWords(commentsWords);
  const { reply, isBusy, isOutdated, error, free } = replying;
  if (isBusy) return null;
  if (isOutdated) return <FieldError>{words.outdated}</FieldError>;
  if (error === undefined) return reply.isAsked ? <FieldError>{words.lost}</FieldError> : null;
  return (
    <>
      <ErrorNotice error={error} title={reply.isAsked ? words.lost : words.refused} />
      <ToAccounts error={error} />
      {reply.isAsked && isBlocked(error) && <Button onClick={free}>{words.asAnother}</Button>}
    </>
  );
}
