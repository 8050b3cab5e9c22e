import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { Redirect, useParams, useSearch } from "wouter";
import { useHistoryState } from "wouter/use-browser-location";
import { api } from "../../api/api.ts";
import { Note } from "../../kit/card.tsx";
import { Skeleton } from "../../kit/empty-state.tsx";
import { ErrorNotice } from "../../kit/error-notice.tsx";
import { Page } from "../../kit/page.tsx";
import { isPlanned } from "../../posts/move-post.ts";
import { postsApi, type PostVersion, readPost } from "../../posts/posts-api.ts";
import { useCan } from "../../session/session-context.ts";
import { useWords } from "../../words/use-words.ts";
import { composeWords } from "./compose-words.ts";
import { Composer } from "./composer.tsx";
import { toWriters } from "./composition.ts";
import type { DraftMedia } from "./draft.ts";
import { readSeed, slotOf } from "./seed.ts";

/** Files that another screen hands over with the way here. */
interface Handed {
  readonly media?: readonly DraftMedia[];
}

/** `/posts/new`, with what an address proposes, and `/posts/:id/edit`. */
export function ComposeScreen() {
  const words = useWords(composeWords);
  const { id } = useParams();
  const can = useCan();
  const title = id === undefined ? words.newPost : words.editPost;
  if (can("posts:write")) return <LoadedComposer id={id} title={title} />;
  return (
    <Page title={title}>
      <Note>
        <b>{words.mayNotWrite}</b> {words.mayNotWriteHint}
      </Note>
    </Page>
  );
}

interface LoadedComposerProps {
  readonly id: string | undefined;
  readonly title: string;
}

function LoadedComposer({ id, title }: LoadedComposerProps) {
  const seed = readSeed(useSearch());
  const handed = useHistoryState<Handed | null>();
  const loaded = useLoaded(id, seed.from);
  if ("missing" in loaded)
    return (
      <Page title={title}>
        <Missing query={loaded.missing} />
      </Page>
    );
  const { base, from, writers } = loaded;
  if (base !== undefined && !isPlanned(base.post))
    return <Redirect to={`/posts/${base.post.id}`} replace />;
  return (
    <Composer
      // Another draft at the same path, such as that of "New post", is another composer.
      key={base?.post.id ?? slotOf(seed)}
      title={title}
      writers={writers}
      base={base}
      seed={seed}
      from={from?.post}
      handed={handed?.media ?? []}
    />
  );
}

type Query = Pick<UseQueryResult, "error" | "refetch">;

function Missing({ query }: { readonly query: Query | undefined }) {
  if (!query?.error) return <Skeleton />;
  return <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />;
}

/** What the composer cannot begin without, or the first of it that is not there yet. */
function useLoaded(id: string | undefined, fromId: string | undefined) {
  const base = useVersion(id);
  const from = useVersion(fromId);
  const accounts = useQuery(postsApi.accounts());
  const platforms = useQuery({
    queryKey: ["platform", "list"],
    queryFn: ({ signal }) => api.listPlatforms({}, { signal }),
  });
  const needed = [accounts, platforms, ...(id ? [base] : []), ...(fromId ? [from] : [])];
  const missing = needed.find(({ data }) => data === undefined);
  if (missing !== undefined || !accounts.data || !platforms.data) return { missing };
  const writers = toWriters(accounts.data.accounts, platforms.data.platforms);
  return { base: base.data, from: from.data, writers };
}

/** A post as it was when the composer was opened: what is written is compared with it. */
function useVersion(id: string | undefined) {
  return useQuery<PostVersion>({
    queryKey: ["compose", id],
    queryFn: ({ signal }) => readPost(id ?? "", signal),
    enabled: id !== undefined,
    gcTime: 0,
    staleTime: Infinity,
  });
}
