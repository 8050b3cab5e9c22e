import { create } from "@bufbuild/protobuf";
import { CommentActionSchema } from "@postrider/contracts/engagement/v1/comment_service_pb";
import { expect, test } from "vitest";
import { toCommentAction, toCommentAuthor } from "#src/comments/mapping.ts";

const AT = { seconds: 1_795_000_000n, nanos: 5_000_000 };
const ACTION = {
  id: "01936a5e-7d2b-7000-8000-000000000001",
  accountId: "01936a5e-7d2b-7000-8000-000000000002",
  mediaId: "media",
  commentId: "comment",
  type: "reply",
  text: "Thank you",
  status: "failed",
  createdAt: AT,
  finishedAt: AT,
};

test("the fields of a comment's author are null when the platform does not return them", () => {
  expect(toCommentAuthor(undefined)).toEqual({ id: null, username: null });
});

test("the error of a failed comment action has the message of the platform", () => {
  const error = { code: "content_rejected", message: "(#100) too long", retryable: false };
  const action = create(CommentActionSchema, { ...ACTION, error });

  expect(toCommentAction(action, "en")).toEqual({
    id: ACTION.id,
    accountId: ACTION.accountId,
    mediaId: "media",
    commentId: "comment",
    type: "reply",
    text: "Thank you",
    status: "failed",
    error: { ...error, action: "Change what the message names and request a new action." },
    createdAt: "2026-11-18T11:06:40.005Z",
    finishedAt: "2026-11-18T11:06:40.005Z",
  });
});

test.each([
  [
    "en",
    "outcome_unknown",
    "It is not known whether the platform carried this out.",
    "Look at the comment on the platform. Request the action again only if it was not carried out.",
  ],
  [
    "en",
    "internal_error",
    "Something went wrong on our side.",
    "Wait a minute, then request the action again. If it fails again, give the operator the `id` of this record.",
  ],
  [
    "ko",
    "internal_error",
    "서비스에 문제가 생겼습니다.",
    "1분쯤 기다린 뒤 작업을 다시 요청해 주세요. 또 실패하면 운영자에게 이 기록의 `id`를 알려 주세요.",
  ],
] as const)(
  "without a message of the platform, the error of a failed comment action has our texts in %s for the code %s",
  (locale, code, message, action) => {
    const error = { code, message: "", retryable: false };
    const failed = create(CommentActionSchema, { ...ACTION, error });
    expect(toCommentAction(failed, locale).error).toEqual({
      code,
      message,
      retryable: false,
      action,
    });
  },
);

test("a pending action that hides a comment has no text, no error and no end time", () => {
  const { text: _, finishedAt: __, ...rest } = ACTION;
  const action = create(CommentActionSchema, { ...rest, type: "hide", status: "pending" });
  expect(toCommentAction(action, "en")).toMatchObject({
    text: null,
    error: null,
    finishedAt: null,
  });
});
