import { CommentAction, CommentActionType, CommentAuthor } from "@postrider/rest/comments/schemas";
import { Instant, nullable, ref } from "@postrider/rest/schemas";
import { Type } from "typebox";
import { CURSOR } from "#src/routes/schemas.ts";

/** A comment in the examples of the API description. */
export const COMMENT_EXAMPLE = {
  id: "17912345678901234",
  text: "Are you open on Sunday?",
  author: { id: "17841405309211844", username: "bike.fan" },
  createdAt: "2026-11-21T10:01:40.000Z",
  likeCount: 3,
  replyCount: 0,
  hidden: false,
};

export const Comment = Type.Object(
  {
    id: Type.String({ description: "The platform's id of the comment." }),
    text: Type.String(),
    author: ref(CommentAuthor),
    createdAt: Instant,
    likeCount: nullable(
      Type.Integer({ description: "null when the platform does not give the number." }),
    ),
    replyCount: nullable(
      Type.Integer({ description: "null when the platform does not give the number." }),
    ),
    hidden: Type.Boolean({ description: "Whether other readers do not see the comment." }),
  },
  { $id: "Comment", examples: [COMMENT_EXAMPLE] },
);

export const CommentList = Type.Object(
  { comments: Type.Array(ref(Comment)), nextCursor: nullable(Type.String()) },
  { $id: "CommentList", examples: [{ comments: [COMMENT_EXAMPLE], nextCursor: null }] },
);

/**
 * Maximum length of the text of a reply in characters; a longer text is refused. The platforms' own
 * limits are lower, or are not documented.
 */
const MAX_TEXT_LENGTH = 10_000;

export const RequestCommentAction = Type.Object(
  {
    type: CommentActionType,
    text: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: MAX_TEXT_LENGTH,
        pattern: "\\S",
        description:
          "Required for a reply and refused for other actions. Not only white space; the platform may allow less text.",
      }),
    ),
  },
  {
    $id: "RequestCommentAction",
    additionalProperties: false,
    examples: [{ type: "reply", text: "Yes, we are open on Sunday." }, { type: "hide" }],
  },
);

export const ListCommentsQuery = Type.Object(
  {
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 50, description: "1 to 50, default 20." }),
    ),
    cursor: CURSOR,
  },
  { additionalProperties: false },
);

const PlatformId = Type.String({
  description: "The platform's id, percent-encoded. On bluesky it is the record key.",
});

export const MediaParams = Type.Object({
  id: Type.String({ format: "uuid" }),
  mediaId: PlatformId,
});

export const CommentParams = Type.Object({ ...MediaParams.properties, commentId: PlatformId });

/** Schemas of operations on comments that the API description lists by name. */
export const COMMENT_SCHEMAS = [
  CommentAuthor,
  Comment,
  CommentList,
  RequestCommentAction,
  CommentAction,
];
