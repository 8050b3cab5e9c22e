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

test("a change of a post becomes an event with the version of the post as its sequence", () => {
  expect(fromPostEvent("post.published", create(PostPublishedSchema, POST))).toEqual({
    id: expect.stringMatching(/^01a1fd55-7afb-7/) as string,
    workspaceId: "w",
    type: "post.published",
    occurredAt: AT,
    sequence: 7,
    source: { kind: "post", postId: "p" },
  });
});

test("the event of a deleted post needs no object", () => {
  expect(fromPostEvent("post.deleted", create(PostDeletedSchema, POST)).source).toEqual({
    kind: "deleted_post",
    postId: "p",
  });
});

test("events of the same change have the same id, and other changes have others", () => {
  const idOf = (
    change: Partial<typeof POST>,
    type: "post.failed" | "post.partial" = "post.failed",
  ) => fromPostEvent(type, { ...POST, ...change }).id;
  expect(idOf({})).toBe(idOf({}));
  const ids = [idOf({}), idOf({ version: 8n }), idOf({ postId: "q" }), idOf({}, "post.partial")];
  expect(new Set(ids).size).toBe(4);
});

test("a publish request that is repeated in part and with a newer version is the same event, a retry is another", () => {
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

test("an event that does not say when it happened is refused", () => {
  expect(() => fromPostEvent("post.failed", { ...POST, occurredAt: undefined })).toThrow(
    "the event does not say when it happened",
  );
});
