import { useQuery } from "@tanstack/react-query";
import { Plug } from "lucide-react";
import { Button, LinkButton } from "../../kit/button.tsx";
import { EmptyState } from "../../kit/empty-state.tsx";
import { postsApi } from "../../posts/posts-api.ts";
import { WriteFirst } from "../../posts/write-first.tsx";
import { useCan } from "../../session/session-context.ts";
import { useWords } from "../../words/use-words.ts";
import { type Filters, isSet } from "./filters.ts";
import { postsWords } from "./posts-words.ts";

interface NoPostsProps {
  readonly filters: Filters;
  readonly onClear: () => void;
}

/** Why the list is empty, and the next step. */
export function NoPosts({ filters, onClear }: NoPostsProps) {
  const words = useWords(postsWords);
  const clear = <Button onClick={onClear}>{words.clear}</Button>;
  if (isSet(filters) || (filters.tab !== "all" && filters.tab !== "needs-you"))
    return (
      <EmptyState title={words.noMatch} action={clear}>
        {words.noMatchHint}
      </EmptyState>
    );
  if (filters.tab === "needs-you")
    return (
      <EmptyState title={words.noneFailed} action={clear}>
        {words.noneFailedHint}
      </EmptyState>
    );
  return <NoneYet />;
}

function NoneYet() {
  const words = useWords(postsWords);
  const can = useCan();
  const { data } = useQuery(postsApi.accounts());
  if (!can("posts:write")) return <EmptyState title={words.noneTitle}>{words.readOnly}</EmptyState>;
  return data?.accounts.length === 0 ? (
    <EmptyState
      title={words.noneTitle}
      action={
        <LinkButton kind="primary" icon={Plug} href="/start">
          {words.connectAccount}
        </LinkButton>
      }
    >
      {words.noAccount}
    </EmptyState>
  ) : (
    <WriteFirst title={words.noneTitle} hint={words.noneHint} />
  );
}
