import type { PostDetail, PostTarget } from "@postrider/client";
import { useQuery } from "@tanstack/react-query";
import { RotateCcw } from "lucide-react";
import { Button } from "../../kit/button.tsx";
import { Card } from "../../kit/card.tsx";
import { ErrorNotice } from "../../kit/error-notice.tsx";
import { type Status, StatusIcon } from "../../kit/status.tsx";
import { showToast } from "../../kit/toast.tsx";
import { useAct } from "../../kit/use-act.ts";
import { isRetryable, retryPost } from "../../posts/failed-targets.ts";
import { postWords } from "../../posts/post-words.ts";
import { postsApi } from "../../posts/posts-api.ts";
import { tileStatusOf } from "../../posts/tile-status.ts";
import { useCan } from "../../session/session-context.ts";
import { useNow } from "../../time/use-now.ts";
import { useWords } from "../../words/use-words.ts";
import { detailWords, type detailEn } from "./detail-words.ts";
import css from "./post.module.css";
import type { TargetWords } from "./target-props.ts";
import { TargetRow } from "./target-row.tsx";

/** What needs a person first, then what is under way, then what is done. */
const ORDER: readonly string[] = ["failed", "unknown", "delete_failed", "published", "publishing"];

function rankOf(post: PostDetail, target: PostTarget): number {
  const status = tileStatusOf(post.status, { ...target, errorCode: target.error?.code ?? null });
  // While it is being published, the order is that in which they become visible.
  const order = post.status === "publishing" ? ["published", "publishing"] : ORDER;
  const rank = order.indexOf(status);
  return rank === -1 ? order.length : rank;
}

/** What the head of the card says. */
function headOf(post: PostDetail, words: typeof detailEn) {
  const { targets, status } = post;
  const done = targets.filter((target) => target.status === "published").length;
  const hurt = targets.filter((target) => ["failed", "delete_failed"].includes(target.status));
  if (status === "publishing" || hurt.length === 0)
    return { hurt: [], mark: undefined, look: undefined, title: words.accounts(targets.length) };
  return done === 0
    ? { hurt, mark: "failed", look: css.fixBad, title: words.noneDone(hurt.length) }
    : {
        hurt,
        mark: "partial",
        look: css.fix,
        title: words.partly(done, targets.length, hurt.length),
      };
}

/** The state on each account, with the cause and the button that mends it in one row. */
export function TargetsCard({ post }: { readonly post: PostDetail }) {
  const words = useWords(detailWords);
  const { data } = useQuery(postsApi.targets(post.id));
  const targets = [...post.targets].sort((one, other) => rankOf(post, one) - rankOf(post, other));
  const { hurt, mark, look, title } = headOf(post, words);
  const firstHurt = targets.find(({ error }) => error !== null);
  const isSome = targets.some(({ status }) => status === "published");
  const isUnsettled = mark !== undefined || post.status === "publishing";
  return (
    <Card
      className={look}
      mark={mark && <StatusIcon status={mark as Status} />}
      title={title}
      aside={isUnsettled && isSome ? words.neverAgain : undefined}
      actions={mark && <RetryAll post={post} hurt={hurt} words={data?.targets ?? []} />}
    >
      {targets.map((target) => (
        <TargetRow
          key={target.id}
          post={post}
          target={target}
          words={data?.targets.find(({ targetId }) => targetId === target.id)}
          isFirst={target === firstHurt}
        />
      ))}
    </Card>
  );
}

interface RetryAllProps {
  readonly post: PostDetail;
  readonly hurt: readonly PostTarget[];
  readonly words: readonly TargetWords[];
}

/** A retry that cannot help yet is offered quietly: nothing has changed since. */
function RetryAll({ post, hurt, words: facts }: RetryAllProps) {
  const words = useWords(detailWords);
  const shared = useWords(postWords);
  const can = useCan();
  const count = hurt.filter(isRetryable).length;
  const now = useNow().epochMilliseconds;
  const limited = facts.filter(({ waitsFor }) => Date.parse(waitsFor?.until ?? "") > now);
  const helps = hurt.some(
    ({ id, error }) =>
      error?.retryable === true && !limited.some(({ targetId }) => targetId === id),
  );
  const { run, isBusy, error } = useAct(async () => {
    showToast(shared.retried(await retryPost(post)));
  });
  if (count === 0 || !can("posts:write")) return null;
  return (
    <>
      <Button
        kind={helps ? "plain" : "ghost"}
        small
        icon={RotateCcw}
        busy={isBusy}
        data-key="r"
        title={helps ? undefined : words.retryAnywayHint}
        onClick={run}
      >
        {helps ? shared.retry(count) : words.retryAnyway(count)}
      </Button>
      {error !== undefined && <ErrorNotice error={error} />}
    </>
  );
}
