import { Type } from "typebox";
import { OptionalTargetError } from "#src/posts/schemas.ts";
import { enumeration, Id, Instant, nullable } from "#src/schemas.ts";

export const CommentAuthor = Type.Object(
  {
    id: nullable(
      Type.String({ description: "The platform's id of the person, as this account sees it." }),
    ),
    username: nullable(Type.String()),
  },
  {
    $id: "CommentAuthor",
    description: "Who wrote a comment. A property is null when the platform does not give it.",
    examples: [{ id: "17841405309211844", username: "bike.fan" }],
  },
);

export const CommentActionType = enumeration("CommentActionType", ["reply", "hide", "unhide"]);

export const CommentAction = Type.Object(
  {
    id: Id,
    accountId: Id,
    mediaId: Type.String({ description: "The platform's id of the media." }),
    commentId: Type.String({ description: "The platform's id of the comment." }),
    type: CommentActionType,
    text: nullable(Type.String({ description: "Text of a reply; null for other actions." })),
    status: enumeration("CommentActionStatus", ["pending", "succeeded", "failed"]),
    error: OptionalTargetError,
    createdAt: Instant,
    finishedAt: nullable({ ...Instant, description: "null while the action is pending." }),
  },
  {
    $id: "CommentAction",
    description:
      "A manual action on a comment. With the error code `outcome_unknown`, the platform may have carried it out.",
    examples: [
      {
        id: "01a1a1c4-77aa-7b4c-8d5e-6f708192a3b4",
        accountId: "01a18f2e-5b1c-7d3e-8a4f-6b7c8d9e0f1a",
        mediaId: "18027438291234567",
        commentId: "17912345678901234",
        type: "reply",
        text: "Yes, we are open on Sunday.",
        status: "succeeded",
        error: null,
        createdAt: "2026-11-21T10:02:11.118Z",
        finishedAt: "2026-11-21T10:02:11.964Z",
      },
    ],
  },
);

/** Schemas of comments and actions on them that the API description lists by name. */
export const COMMENT_ACTION_SCHEMAS = [CommentAuthor, CommentAction];
