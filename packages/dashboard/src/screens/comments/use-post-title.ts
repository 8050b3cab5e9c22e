import type { PostTarget } from "@postrider/client";
import type { InboxCommentJson } from "@postrider/rest/dashboard/inbox";
import { useQuery } from "@tanstack/react-query";
import { postsApi } from "../../posts/posts-api.ts";
import { titleOf } from "../../posts/title-of.ts";
import { useCan } from "../../session/session-context.ts";
import { useWords } from "../../words/use-words.ts";
import { commentsWords } from "./comments-words.ts";

type Commented = Pick<InboxCommentJson, "postId" | "accountId">;

function usePost(postId: string | null) {
  const can = useCan();
  const isKnown = postId !== null && can("posts:read");
  return useQuery({ ...postsApi.post(postId ?? ""), enabled: isKnown }).data?.post;
}

/** The beginning of the post that is commented. */
export function usePostTitle({ postId }: Commented): string {
  const words = useWords(commentsWords);
  const post = usePost(postId);
  const title = post === undefined ? "" : titleOf(post.content);
  if (title !== "") return title;
  return postId === null ? words.outside : words.oldPost;
}

/** The post on the account of the comment: where it can be seen. */
export function useTarget({ postId, accountId }: Commented): PostTarget | undefined {
  return usePost(postId)?.targets.find((target) => target.accountId === accountId);
}

/** The first file of the post that is commented. */
export function useFirstMedia({ postId }: Commented): string | undefined {
  return usePost(postId)?.mediaIds[0];
}
