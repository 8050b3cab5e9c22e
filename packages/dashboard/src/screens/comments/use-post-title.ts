import type { PostTarget } from "@postrider/client";
import type { PostWordsListJson } from "@postrider/rest/dashboard/cures";
import type { InboxCommentJson } from "@postrider/rest/dashboard/inbox";
import { useQueries, useQuery } from "@tanstack/react-query";
import { postsApi } from "../../posts/posts-api.ts";
import { titleOf } from "../../posts/title-of.ts";
import { useCan } from "../../session/session-context.ts";
import { useWords } from "../../words/use-words.ts";
import { commentsWords } from "./comments-words.ts";

type Commented = Pick<InboxCommentJson, "postId" | "accountId">;

function usePost(postId: string | null) {
  const can = useCan();
  const isKnown = postId !== null && can("posts:read");
  return useQuery({ ...postsApi.post(postId ?? ""), enabled: isKnown });
}

type Words = (typeof commentsWords)["en"];

function nameOf(postId: string | null, text: string | undefined, words: Words): string {
  const title = titleOf(text ?? "");
  if (title !== "") return title;
  return postId === null ? words.outside : words.oldPost;
}

/** The beginning of the post that is commented; nothing while it is read for the first time. */
export function usePostTitle({ postId }: Commented): string {
  const words = useWords(commentsWords);
  const { data, isLoading } = usePost(postId);
  return isLoading ? "" : nameOf(postId, data?.post.content, words);
}

interface Answer {
  readonly data: PostWordsListJson | undefined;
  readonly isLoading: boolean;
}

/** Posts of one request. */
const MAX_IDS = 100;

function readTexts(answers: readonly Answer[]) {
  const posts = answers.flatMap(({ data }) => data?.posts ?? []);
  return {
    texts: new Map(posts.map(({ postId, text }) => [postId, text])),
    isLoading: answers.some((answer) => answer.isLoading),
  };
}

/** The same for all comments of a list, whose posts are read together. */
export function usePostTitles(comments: readonly Commented[]): (comment: Commented) => string {
  const words = useWords(commentsWords);
  const isAllowed = useCan()("posts:read");
  const ids = isAllowed ? [...new Set(comments.flatMap(({ postId }) => postId ?? []))] : [];
  const parts = Array.from({ length: Math.ceil(ids.length / MAX_IDS) }, (_, part) =>
    ids.slice(part * MAX_IDS, (part + 1) * MAX_IDS),
  );
  const queries = parts.map((part) => postsApi.words(part));
  const { texts, isLoading } = useQueries({ queries, combine: readTexts });
  return ({ postId }) => {
    const text = texts.get(postId ?? "");
    return isLoading && postId !== null && text === undefined ? "" : nameOf(postId, text, words);
  };
}

/** The post on the account of the comment: where it can be seen. */
export function useTarget({ postId, accountId }: Commented): PostTarget | undefined {
  return usePost(postId).data?.post.targets.find((target) => target.accountId === accountId);
}

/** The first file of the post that is commented. */
export function useFirstMedia({ postId }: Commented): string | undefined {
  return usePost(postId).data?.post.mediaIds[0];
}
