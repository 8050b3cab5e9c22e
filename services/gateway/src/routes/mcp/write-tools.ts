import { ANSWER_BYTES } from "#src/routes/posts/answer-bytes.ts";
import { bodyOf, idOf, segment, text, type Tool } from "./tool.ts";

const KEY = text(
  "A new random text for each thing to do. A call that is repeated with the same key is carried out once.",
  { minLength: 1, maxLength: 255 },
);
const CONTENT = {
  content: text("The text."),
  accountIds: { type: "array", items: idOf("Id of an account."), minItems: 1 },
  mediaIds: { type: "array", items: idOf("Id of media.") },
  options: {
    type: "object",
    description: "Overrides of content, title, privacy and tags by platform or account id.",
  },
};
const FORCE = {
  type: "boolean",
  description:
    "Publishes although the same content was sent to the account a short time ago (error duplicate_content). A person decides this: set it only after the person has seen that error and said to post it again.",
};
const POST_ID = idOf("Id of the post.");
const ZONE = text("IANA time zone in which the result shows the time. Default: UTC.");

/** Returns the body of a new post. Without `when`, it stays a draft. */
function toNewPost(input: Readonly<Record<string, unknown>>): object {
  const post = bodyOf(input, ["idempotencyKey", "when", "timezone"]);
  switch (input["when"]) {
    case "now":
    case "scheduled":
      return post;
    case "queue":
      return { ...post, queueSlot: true };
    default:
      return { ...post, isDraft: true };
  }
}

/** A time that the agent forgot or that is ignored would publish at once, or never. */
function findContradictoryTime({
  when,
  scheduledAt,
}: Readonly<Record<string, unknown>>): string | undefined {
  const isTimed = scheduledAt !== undefined;
  if (when === "scheduled")
    return isTimed ? undefined : "when: scheduled needs scheduledAt; ask the person for the time";
  if (when === "draft" || !isTimed) return undefined;
  if (when === undefined)
    return "scheduledAt needs when: send when: scheduled to publish at that time, or when: draft to keep the time as a plan";
  return `when: ${JSON.stringify(when)} contradicts scheduledAt; ask the person which of them is meant`;
}

/** The MCP tools that change something. */
export const WRITE_TOOLS: readonly Tool[] = [
  {
    name: "create_post",
    title: "Create a post",
    description:
      "Creates a post. It is a draft unless `when` says otherwise. Publishing reaches people and cannot always be taken back: ask the person first, then use when: now, queue or scheduled.",
    inputs: {
      ...CONTENT,
      when: text(
        "draft (default), now, queue (the next free slot) or scheduled (at scheduledAt).",
        {
          enum: ["draft", "now", "queue", "scheduled"],
        },
      ),
      scheduledAt: text(
        "RFC 3339 with the offset of the person's zone. Required with when: scheduled; only a plan with when: draft.",
      ),
      force: FORCE,
      timezone: ZONE,
      idempotencyKey: KEY,
    },
    required: ["content", "accountIds", "idempotencyKey"],
    output: { post: "PostDetail" },
    answerBytes: ANSWER_BYTES.post,
    showsZonedTime: true,
    isIdempotent: true,
    findContradiction: findContradictoryTime,
    toRequests: (input) => [
      {
        method: "POST",
        path: "/posts",
        body: toNewPost(input),
        idempotencyKey: String(input["idempotencyKey"]),
      },
    ],
  },
  {
    name: "update_post",
    title: "Change or publish a post",
    description:
      "Replaces the given fields of a draft or scheduled post. scheduledAt schedules a draft, or changes the time. publishNow publishes the post as it is then, and not together with scheduledAt: it reaches people, so ask the person first.",
    inputs: {
      postId: POST_ID,
      ...CONTENT,
      scheduledAt: text("RFC 3339 with an offset."),
      publishNow: { type: "boolean", description: "Publish the post now, after the changes." },
      force: {
        ...FORCE,
        description: "Only with publishNow, and as in create_post: a person decides it.",
      },
      timezone: ZONE,
    },
    required: ["postId"],
    output: { post: "PostDetail" },
    answerBytes: ANSWER_BYTES.post,
    showsZonedTime: true,
    isDestructive: true,
    isIdempotent: true,
    findContradiction: ({ publishNow, scheduledAt }) =>
      publishNow === true && scheduledAt !== undefined
        ? "publishNow contradicts scheduledAt; ask the person which of them is meant"
        : undefined,
    toRequests: (input) => {
      const path = `/posts/${segment(input, "postId")}`;
      const body = bodyOf(input, ["postId", "publishNow", "force", "timezone"]);
      const forced = input["force"] === true ? { body: { force: true } } : {};
      const isPublished = input["publishNow"] === true;
      const isChanged = !isPublished || Object.keys(body).length > 0;
      return [
        ...(isChanged ? [{ method: "PATCH", path, body } as const] : []),
        ...(isPublished
          ? [
              {
                method: "POST",
                path: `${path}/publish`,
                ...forced,
                isForSameVersion: isChanged,
              } as const,
            ]
          : []),
      ];
    },
  },
  {
    name: "cancel_post",
    title: "Cancel or delete a post",
    description:
      "Deletes a draft or scheduled post. A published post is deleted on its platforms, as far as they allow it: ask the person first.",
    inputs: { postId: POST_ID },
    required: ["postId"],
    output: "PostDeletion",
    emptyResult: (input) => ({ id: input["postId"], status: "cancelled", targets: [] }),
    isDestructive: true,
    isIdempotent: true,
    toRequests: (input) => [{ method: "DELETE", path: `/posts/${segment(input, "postId")}` }],
  },
  {
    name: "retry_failed_targets",
    title: "Send failed accounts again",
    description:
      "Sends the post again to those of its accounts that failed. Accounts that are published are never touched.",
    inputs: { postId: POST_ID },
    required: ["postId"],
    output: "PostDetail",
    answerBytes: ANSWER_BYTES.post,
    toRequests: (input) => [{ method: "POST", path: `/posts/${segment(input, "postId")}/retry` }],
  },
  {
    name: "add_media_from_url",
    title: "Add a picture or video",
    description: "Downloads an image or video from a public address, for use in mediaIds.",
    inputs: { url: text("http or https address of the file itself."), idempotencyKey: KEY },
    required: ["url", "idempotencyKey"],
    output: "ReadyMedia",
    isIdempotent: true,
    toRequests: (input) => [
      {
        method: "POST",
        path: "/media/from-url",
        body: { url: input["url"] },
        idempotencyKey: String(input["idempotencyKey"]),
      },
    ],
  },
  {
    name: "reply_to_comment",
    title: "Reply to a comment",
    description: "Answers a comment in public, in the name of the account: ask the person first.",
    inputs: {
      accountId: idOf("Id of the account."),
      mediaId: text("externalId of the target that has the comment."),
      commentId: text("Id of the comment, as list_comments returns it."),
      text: text("The reply."),
      idempotencyKey: KEY,
    },
    required: ["accountId", "mediaId", "commentId", "text", "idempotencyKey"],
    output: "CommentAction",
    isIdempotent: true,
    toRequests: (input) => [
      {
        method: "POST",
        path: `/accounts/${segment(input, "accountId")}/media/${segment(input, "mediaId")}/comments/${segment(input, "commentId")}/actions`,
        body: { type: "reply", text: input["text"] },
        idempotencyKey: String(input["idempotencyKey"]),
      },
    ],
  },
  {
    name: "get_metrics",
    title: "Read the metrics of a post",
    description:
      "Asks the platforms for the counters of a published post, waits at most 10 seconds, and returns the post with the metrics of each account. Null means that a platform does not give a counter.",
    inputs: { postId: POST_ID },
    required: ["postId"],
    output: { refreshed: "RefreshedPost", post: "PostDetail" },
    answerBytes: ANSWER_BYTES.post,
    isIdempotent: true,
    toRequests: (input) => {
      const path = `/posts/${segment(input, "postId")}`;
      return [
        { method: "POST", path: `${path}/metrics/refresh` },
        { method: "GET", path },
      ];
    },
  },
];
