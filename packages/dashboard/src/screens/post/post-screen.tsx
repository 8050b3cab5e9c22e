import { PostriderError, type PostDetail } from "@postrider/client";
import { useQuery } from "@tanstack/react-query";
import { ChevronDown, ChevronUp } from "lucide-react";
import { useLocation, useParams } from "wouter";
import { useKeys } from "../../keys/use-keys.ts";
import { Button, LinkButton } from "../../kit/button.tsx";
import { Card } from "../../kit/card.tsx";
import { EmptyState, Skeleton } from "../../kit/empty-state.tsx";
import { ErrorNotice } from "../../kit/error-notice.tsx";
import { Page } from "../../kit/page.tsx";
import { langOf } from "../../posts/lang-of.ts";
import { PostMenu } from "../../posts/post-menu.tsx";
import { postsApi } from "../../posts/posts-api.ts";
import { titleOf } from "../../posts/title-of.ts";
import { useReturnedAccount } from "../../posts/use-returned-account.ts";
import { useWords } from "../../words/use-words.ts";
import { detailWords } from "./detail-words.ts";
import { FactsCard } from "./facts-card.tsx";
import css from "./post.module.css";
import { FinalNote, PublishingNote } from "./publishing-note.tsx";
import { SentCard } from "./sent-card.tsx";
import { TargetsCard } from "./targets-card.tsx";
import { useNeighbours } from "./use-neighbours.ts";

/** One post: its state on each account with cause and cure, and what was sent. */
export function PostScreen() {
  const words = useWords(detailWords);
  const { id = "" } = useParams();
  const { data, error, isPending, refetch } = useQuery(postsApi.post(id));
  if (data !== undefined) return <Detail key={id} post={data.post} />;
  return (
    <Page title={words.posts}>
      {isPending && <Skeleton rows={6} />}
      {error instanceof PostriderError && error.status === 404 ? (
        <Card>
          <EmptyState
            title={words.gone}
            action={<LinkButton href="/posts">{words.toList}</LinkButton>}
          />
        </Card>
      ) : (
        error !== null && <ErrorNotice error={error} onRetry={() => void refetch()} />
      )}
    </Page>
  );
}

function Detail({ post }: { readonly post: PostDetail }) {
  const words = useWords(detailWords);
  useReturnedAccount();
  const title = titleOf(post.content) || words.noText;
  return (
    <Page
      title={<span lang={langOf(title)}>{title}</span>}
      tabTitle={title}
      crumb={{ label: words.posts, href: "/posts" }}
      actions={
        <>
          <Neighbours post={post} />
          <PostMenu post={post} />
        </>
      }
    >
      <PublishingNote post={post} />
      <FinalNote post={post} />
      <div className="two">
        <TargetsCard post={post} />
        <aside className={css.aside}>
          <SentCard post={post} />
          <FactsCard post={post} />
        </aside>
      </div>
    </Page>
  );
}

/** The post before and after this one, as the list was shown last. */
function Neighbours({ post }: { readonly post: PostDetail }) {
  const words = useWords(detailWords);
  const [, navigate] = useLocation();
  const { before, after } = useNeighbours(post.id);
  const go = (id: string | undefined) => () => id !== undefined && navigate(`/posts/${id}`);
  const press = (key: string) => () =>
    document.querySelector<HTMLElement>(`[data-key="${key}"]`)?.click();
  useKeys({
    k: go(before),
    j: go(after),
    r: press("r"),
    e: press("e"),
    m: press("m"),
    escape: () => navigate("/posts"),
  });
  return (
    <span className="row not-s">
      <Button
        kind="ghost"
        icon={ChevronUp}
        aria-label={words.previous}
        disabled={before === undefined}
        onClick={go(before)}
      />
      <Button
        kind="ghost"
        icon={ChevronDown}
        aria-label={words.next}
        disabled={after === undefined}
        onClick={go(after)}
      />
    </span>
  );
}
