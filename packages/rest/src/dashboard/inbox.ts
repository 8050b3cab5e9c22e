import { Type, type Static } from "typebox";
import { BoundedCount, NextCursor, Platform } from "#src/dashboard/parts.ts";
import { Id, Instant, nullable } from "#src/schemas.ts";

const INBOX_STATES = ["open", "answered", "done"] as const;

export const InboxState = Type.Unsafe<(typeof INBOX_STATES)[number]>({
  type: "string",
  enum: [...INBOX_STATES],
});

/** A comment of a reader, as it was when it was last read from the platform. */
export const InboxComment = Type.Object({
  /** Our id, for PUT /app/api/inbox/{id}. */
  id: Id,
  accountId: Id,
  platform: Platform,
  /** The platform's ids, for the operations on comments. */
  mediaId: Type.String(),
  commentId: Type.String(),
  /** Null when the media was not published by Postrider. */
  postId: nullable(Id),
  text: Type.String(),
  author: Type.Object({ id: nullable(Type.String()), username: nullable(Type.String()) }),
  createdAt: Instant,
  likeCount: nullable(Type.Integer()),
  replyCount: nullable(Type.Integer()),
  hidden: Type.Boolean(),
  /** `answered`: a reply through Postrider was sent. `done`: needs no answer. */
  state: InboxState,
});

/** `GET /app/api/inbox?state=&accountId=&platform=&limit=&cursor=`: newest comment first. */
export const Inbox = Type.Object({
  comments: Type.Array(InboxComment),
  nextCursor: NextCursor,
  /** Open comments of the workspace, whatever the filters. */
  open: BoundedCount,
  /** When comments were last read from a platform for this workspace; null = never. */
  readAt: nullable(Instant),
});

/** `PUT /app/api/inbox/{id}`. */
export const SetInboxState = Type.Object(
  { state: Type.Unsafe<"open" | "done">({ type: "string", enum: ["open", "done"] }) },
  { additionalProperties: false },
);

export type InboxStateJson = Static<typeof InboxState>;
export type InboxCommentJson = Static<typeof InboxComment>;
export type InboxJson = Static<typeof Inbox>;
export type SetInboxStateJson = Static<typeof SetInboxState>;
