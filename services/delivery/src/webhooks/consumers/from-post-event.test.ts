import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  PostDeletedSchema,
  PostPublishRequestedSchema,
  PostPublishedSchema,
} from "@postrider/contracts/posts/v1/posts_events_pb";
import { expect, test } from "vitest";
import { fromPostEvent, fromPublishRequest } from "./from-post-event.ts";

const AT = new Date("2026-11-21T09:00:00.123Z");
const POST = { workspaceId: "w", postId: "p", version: 7n, occurredAt: timestampFromDate(AT) };

test("a change of a post becomes a webhook event whose sequence is the version of the post", () => {
  expect(fromPostEvent("post.published", create(PostPublishedSchema, POST))).toEqual({
    id: expect.stringMatching(/^01a1fd55-7afb-7/) as string,
    workspaceId: "w",
    type: "post.published",
    occurredAt: AT,
    sequence: 7,
    source: { kind: "post", postId: "p" },
  });
});

test("the webhook event of a deleted post is written without reading the post", () => {
  expect(fromPostEvent("post.deleted", create(PostDeletedSchema, POST)).source).toEqual({
    kind: "deleted_post",
    postId: "p",
  });
});

test("webhook events of the same change of a post have the same id, and events of other changes have other ids", () => {
  const idOf = (
    change: Partial<typeof POST>,
    type: "post.failed" | "post.partial" = "post.failed",
  ) => fromPostEvent(type, { ...POST, ...change }).id;
  expect(idOf({})).toBe(idOf({}));
  const ids = [idOf({}), idOf({ version: 8n }), idOf({ postId: "q" }), idOf({}, "post.partial")];
  expect(new Set(ids).size).toBe(4);
});

test("a publish request that the posts service repeats with a newer version of the post makes the same webhook event, and a retry by the user makes another event", () => {
  const request = (change: { version?: bigint; dueAt?: Date }) =>
    fromPublishRequest(
      create(PostPublishRequestedSchema, {
        workspaceId: "w",
        postId: "p",
        version: change.version ?? 2n,
        dueAt: timestampFromDate(change.dueAt ?? AT),
      }),
    );
  expect(request({}).id).toBe(request({ version: 9n }).id);
  expect(request({}).id).not.toBe(request({ dueAt: new Date(AT.getTime() + 1) }).id);
  expect(request({})).toMatchObject({ type: "post.publishing", occurredAt: AT });
});

test("a bus event about a post that does not say when it happened is refused", () => {
  expect(() => fromPostEvent("post.failed", { ...POST, occurredAt: undefined })).toThrow(
    "the event does not say when it happened",
  );
});
