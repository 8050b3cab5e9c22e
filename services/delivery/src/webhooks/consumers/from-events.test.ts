import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  DeletionUpdatedSchema,
  TargetUpdatedSchema,
} from "@postrider/contracts/delivery/v1/delivery_events_pb";
import {
  PostDeletedSchema,
  PostPublishRequestedSchema,
  PostPublishedSchema,
} from "@postrider/contracts/posts/v1/posts_events_pb";
import { expect, test } from "vitest";
import {
  fromDeletionUpdated,
  fromPost,
  fromPublishRequest,
  fromTargetUpdated,
} from "./from-events.ts";

const AT = new Date("2026-11-21T09:00:00.123Z");
const POST = { workspaceId: "w", postId: "p", version: 7n, occurredAt: timestampFromDate(AT) };

test("a change of a post becomes a webhook event whose sequence is the version of the post", () => {
  expect(fromPost("post.published", create(PostPublishedSchema, POST))).toEqual({
    id: expect.stringMatching(/^01a1fd55-7afb-7/) as string,
    workspaceId: "w",
    type: "post.published",
    occurredAt: AT,
    sequence: 7,
    source: { kind: "post", postId: "p" },
  });
});

test("the webhook event of a deleted post is written without reading the post", () => {
  expect(fromPost("post.deleted", create(PostDeletedSchema, POST)).source).toEqual({
    kind: "deleted_post",
    postId: "p",
  });
});

test("webhook events of the same change of a post have the same id, and events of other changes have other ids", () => {
  const idOf = (
    change: Partial<typeof POST>,
    type: "post.failed" | "post.partial" = "post.failed",
  ) => fromPost(type, { ...POST, ...change }).id;
  expect(idOf({})).toBe(idOf({}));
  const ids = [idOf({}), idOf({ version: 8n }), idOf({ postId: "q" }), idOf({}, "post.partial")];
  expect(new Set(ids).size).toBe(4);
});

test("a publish request repeated with a newer post version makes the same webhook event, and a retry by the user makes another", () => {
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
  expect(() => fromPost("post.failed", { ...POST, occurredAt: undefined })).toThrow(
    "the event does not say when it happened",
  );
});

const RECORDED = new Date("2026-11-21T09:00:05.000Z");
const TARGET = { workspaceId: "w", postId: "p", targetId: "t" };

function updated(change: {
  status: string;
  generation?: number;
  version?: bigint;
  permalink?: string;
  isLaterUpdate?: boolean;
  errorCode?: string;
}) {
  return fromTargetUpdated({
    message: create(TargetUpdatedSchema, {
      ...TARGET,
      generation: 1,
      version: 3n,
      ...(change.status === "published" ? { publishedAt: timestampFromDate(AT) } : {}),
      ...change,
    }),
    recordedAt: RECORDED,
  });
}

test("a published target makes a webhook event with the time of its publication, and later updates of the target make the same event", () => {
  const [event] = updated({ status: "published" });
  expect(event).toMatchObject({
    type: "target.published",
    occurredAt: AT,
    sequence: 2 ** 20 + 3,
    source: { kind: "target", reported: { status: "published", error: null } },
  });
  const [later] = updated({ status: "published", version: 9n, permalink: "https://example.com" });
  expect(later?.id).toBe(event?.id);
  expect(updated({ status: "published", generation: 2 })[0]?.id).not.toBe(event?.id);
});

test("an update with the address of a published target makes target.updated beside target.published, one for each version", () => {
  const [published] = updated({ status: "published" });
  const change = { status: "published", permalink: "https://example.com/1", isLaterUpdate: true };
  const [same, later, ...rest] = updated({ ...change, version: 4n });
  expect(rest).toEqual([]);
  expect(same?.id).toBe(published?.id);
  expect(later).toMatchObject({
    type: "target.updated",
    occurredAt: RECORDED,
    sequence: 2 ** 20 + 4,
    source: { kind: "target", reported: { permalink: "https://example.com/1" } },
  });
  expect(later?.id).not.toBe(same?.id);
  expect(updated({ ...change, version: 4n })[1]?.id).toBe(later?.id);
  expect(updated({ ...change, version: 5n })[1]?.id).not.toBe(later?.id);
});

test("a failed target makes a webhook event with the time at which the failure was recorded and with the platform's error", () => {
  const [event] = updated({ status: "failed", errorCode: "missed" });
  expect(event).toMatchObject({
    type: "target.failed",
    occurredAt: RECORDED,
    source: { reported: { error: { code: "missed", message: "", retryable: false } } },
  });
});

test("the sequence number of a target's webhook events rises with the target's version and generation, and with its deletion", () => {
  const deleted = fromDeletionUpdated({
    message: create(DeletionUpdatedSchema, {
      ...TARGET,
      deletion: 1,
      version: 1n,
      status: "deleted",
    }),
    recordedAt: RECORDED,
  });
  const sequences = [
    ...updated({ status: "failed", version: 900n }),
    ...updated({ status: "failed", generation: 2, version: 1n }),
    ...updated({ status: "published", generation: 900, version: 1n }),
    ...deleted,
  ].map(({ sequence }) => sequence);
  expect(sequences).toEqual(sequences.toSorted((a, b) => a - b));
  expect(new Set(sequences).size).toBe(4);
});

test.each(["publishing", "", "a status of a later release"])(
  "an update of a target with the status %j makes no webhook event",
  (status) => {
    expect(updated({ status })).toEqual([]);
  },
);

test.each(["deleting", "delete_failed"])(
  "an update of a deletion with the status %s makes no webhook event",
  (status) => {
    const message = create(DeletionUpdatedSchema, { ...TARGET, deletion: 1, version: 1n, status });
    expect(fromDeletionUpdated({ message, recordedAt: RECORDED })).toEqual([]);
  },
);
