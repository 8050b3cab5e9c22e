import { timestampFromMs, type Timestamp } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import type { Post } from "@postrider/contracts/posts/v1/post_pb";
import type {
  DeletePostResponse,
  ListPostsResponse,
  PostService,
} from "@postrider/contracts/posts/v1/post_service_pb";
import type { PostDeletionJson, PostDetailJson, PostListJson } from "@postrider/rest/posts/schemas";

type Posts = Client<typeof PostService>;

/** A post as clients see it, with what only services see. */
export type ShownPost = Omit<PostDetailJson, "media"> &
  Pick<Post, "workspaceId" | "version" | "media">;

/** An answer of the posts service whose JSON was read. */
type Shown<A> = A extends ListPostsResponse
  ? PostListJson
  : A extends DeletePostResponse
    ? ReturnType<typeof showDeletion>
    : A extends { posts: Post[] }
      ? Omit<A, "posts"> & { posts: ShownPost[] }
      : A extends { post?: Post | undefined }
        ? Omit<A, "post"> & { post: ShownPost | undefined }
        : A;

export type ShownPosts = {
  readonly [K in keyof Posts]: (
    ...call: Parameters<Posts[K]>
  ) => Promise<Shown<Awaited<ReturnType<Posts[K]>>>>;
};

/** Milliseconds since 1970 of an instant in JSON; 0 for null. */
export const msOf = (instant: string | null): number =>
  instant === null ? 0 : Date.parse(instant);

/** An instant in JSON as messages contain it. */
export const toTimestamp = (instant: string | null): Timestamp => timestampFromMs(msOf(instant));

function showPost({ json, workspaceId, version, media }: Post): ShownPost {
  return { ...(JSON.parse(json) as PostDetailJson), workspaceId, version, media };
}

/** `post` is undefined if the post was deleted. */
function showDeletion({ json, version }: DeletePostResponse) {
  if (json === "") return { post: undefined, targets: [] };
  const { targets, ...post } = JSON.parse(json) as PostDeletionJson;
  return { post: { ...post, version }, targets };
}

/** Returns a client of the posts service that reads the JSON of its answers. */
export function showAnswers(client: Posts): ShownPosts {
  const withPost =
    <R, A extends { post?: Post | undefined }>(call: (request: R) => Promise<A>) =>
    async (request: R) => {
      const answer = await call(request);
      const { post } = answer;
      return { ...answer, post: post === undefined ? undefined : showPost(post) };
    };
  const shown = {
    ...client,
    createPost: withPost(client.createPost),
    getPost: withPost(client.getPost),
    updatePost: withPost(client.updatePost),
    publishPost: withPost(client.publishPost),
    retryPost: withPost(client.retryPost),
    recordTargetMetrics: withPost(client.recordTargetMetrics),
    batchGetPosts: async (request: Parameters<Posts["batchGetPosts"]>[0]) => {
      const answer = await client.batchGetPosts(request);
      return { ...answer, posts: answer.posts.map(showPost) };
    },
    listPosts: async (request: Parameters<Posts["listPosts"]>[0]) => {
      const { json } = await client.listPosts(request);
      return JSON.parse(json) as PostListJson;
    },
    deletePost: async (request: Parameters<Posts["deletePost"]>[0]) =>
      showDeletion(await client.deletePost(request)),
  };
  return shown;
}
