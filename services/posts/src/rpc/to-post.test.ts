import { expect, test } from "vitest";
import type { PostRow } from "#src/db/posts.ts";
import { toPost } from "./to-post.ts";

const AT = new Date("2026-11-21T09:00:00Z");
const ROW: PostRow = {
  id: "p",
  workspaceId: "w",
  status: "publishing",
  content: 'Hello "you" é\n',
  options: { x: { tags: [], content: "Hi" }, a: { privacy: "public", title: "t" } },
  mediaIds: ["m"],
  media: [{ id: "m", bytes: "12" }],
  scheduledAt: null,
  startedAt: AT,
  publishedAt: null,
  createdVia: "mcp",
  queueSlotRuleId: null,
  createdAt: AT,
  updatedAt: AT,
  version: 3,
  effectiveAt: AT,
  targets: [],
};
const TARGET: PostRow["targets"][number] = {
  id: "t",
  accountId: "a",
  platform: "telegram",
  username: "ann",
  status: "pending",
  externalId: null,
  permalink: null,
  publishedAt: null,
  errorCode: null,
  errorMessage: null,
  errorRetryable: null,
  attemptCount: 0,
  nextAttemptAt: null,
  metrics: null,
  attempts: [],
};

test("the JSON of a post has the fields of the REST interface in their order, whatever the order in the database", () => {
  const post = toPost({ ...ROW, targets: [TARGET] });
  expect(post.json).toBe(
    '{"id":"p","status":"publishing","content":"Hello \\"you\\" é\\n","scheduledAt":null,"startedAt":"2026-11-21T09:00:00.000Z","publishedAt":null,"createdVia":"mcp","createdAt":"2026-11-21T09:00:00.000Z","updatedAt":"2026-11-21T09:00:00.000Z","mediaIds":["m"],"options":{"x":{"content":"Hi","tags":[]},"a":{"title":"t","privacy":"public"}},"queueSlotRuleId":null,"media":[],"targets":[{"id":"t","accountId":"a","platform":"telegram","username":"ann","status":"publishing","externalId":null,"permalink":null,"publishedAt":null,"error":null,"attemptCount":0,"nextAttemptAt":null,"metrics":null}],"attempts":[]}',
  );
  expect(post).toMatchObject({ id: "p", workspaceId: "w", version: 3n });
  expect(post.media).toMatchObject([{ id: "m", bytes: 12n }]);
});

test("the JSON of a post shows attempts, metrics and errors of targets with instants in milliseconds", () => {
  const attempt = {
    startedAt: "2026-11-21T09:00:00+00:00",
    outcome: "retry",
    code: "",
    message: "",
  };
  const target: typeof TARGET = {
    ...TARGET,
    publishedAt: "2026-11-21T09:00:00.12+00:00",
    errorCode: "content_rejected",
    errorMessage: "message can't be deleted",
    metrics: { views: "12", likes: "0", refreshedAt: "2026-11-21T09:00:00Z" },
    attempts: [{ ...attempt, number: 2, finishedAt: null }],
  };
  const deleted = { ...target, status: "delete_failed", errorMessage: null } as const;
  const { json } = toPost({ ...ROW, targets: [target, deleted] });
  const { targets, attempts } = JSON.parse(json) as Record<string, readonly object[]>;
  expect(targets?.[0]).toMatchObject({
    publishedAt: "2026-11-21T09:00:00.120Z",
    error: { code: "content_rejected", message: "message can't be deleted", retryable: false },
    metrics: { views: 12, impressions: null, likes: 0, refreshedAt: "2026-11-21T09:00:00.000Z" },
  });
  expect(targets?.[1]).toMatchObject({
    error: {
      message: "The platform refused the content.",
      action: "Delete the post on Telegram by hand.",
    },
  });
  expect(attempts?.[0]).toEqual({
    accountId: "a",
    number: 2,
    startedAt: "2026-11-21T09:00:00.000Z",
    finishedAt: null,
    outcome: "retry",
    code: null,
    message: null,
  });
});
