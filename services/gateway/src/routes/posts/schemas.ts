import { PlatformIdSchema } from "@postrider/rest/platform-id";
import {
  Attempt,
  DeleteTarget,
  Metrics,
  PostDeletion,
  PostDetail,
  PostList,
  PostOption,
  PostSummary,
  PostTarget,
  TargetError,
} from "@postrider/rest/posts/schemas";
import { Id, Instant, named, nullable, ref } from "@postrider/rest/schemas";
import { Type } from "typebox";

export const ValidPost = Type.Object(
  {
    valid: Type.Unsafe<true>({ type: "boolean", const: true }),
    scheduledAt: nullable(Instant),
    targets: Type.Array(
      named("ValidTarget", Type.Object({ accountId: Id, platform: ref(PlatformIdSchema) })),
    ),
  },
  { $id: "ValidPost" },
);

/** ETag header of every answer that contains one post. */
export const ETAG = {
  ETag: { type: "string", description: "Changes with every visible change of the post." },
};

export const POST_SCHEMAS = [
  PostOption,
  Metrics,
  TargetError,
  PostTarget,
  Attempt,
  PostSummary,
  PostDetail,
  PostList,
  ValidPost,
  DeleteTarget,
  PostDeletion,
];
