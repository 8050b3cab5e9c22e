import { expect, test } from "vitest";
import type { Outcome } from "#src/publishing/outcome.ts";
import { createXCommentsConnector } from "#src/x/comments/connector.ts";
import { createXMetricsConnector } from "#src/x/metrics/connector.ts";
import { createXPublishingConnector } from "#src/x/publishing/connector.ts";
import { addComment } from "../comment-fixtures.ts";
import { guard, startTestPlatform } from "../test-platform.ts";

const platform = await startTestPlatform("x");
const x = createXPublishingConnector({ baseUrl: platform.url, mayResend: true });
const HOUR_MS = 3_600_000;

const createPublication = (text: string) => platform.createPublication([], text);

/** Publishes two posts of one account and one of another, and returns the outcomes. */
async function publishThree(settings: object): Promise<readonly Outcome[]> {
  await platform.control("POST", "settings", { quotas: true, ...settings });
  const mine = await createPublication("first");
  const theirs = await createPublication("theirs");
  const outcomes: Outcome[] = [];
  for (const publication of [mine, { ...mine, text: "second" }, theirs])
    outcomes.push(await x.publish(publication, {}, guard));
  return outcomes;
}

test("when a user's 24-hour quota at X is used up, posts of that account alone are refused until it resets, and the timeline is not read", async () => {
  const [first, second, third] = await publishThree({ xUserPostsPerDay: 1 });
  expect(first).toMatchObject({ kind: "published" });
  expect(second).toMatchObject({ kind: "retryable", code: "platform_quota", isLimit: true });
  expect(second).not.toHaveProperty("isOfApp");
  const { retryAfterMs = 0 } = second as Extract<Outcome, { kind: "retryable" }>;
  expect(retryAfterMs).toBeGreaterThan(23.9 * HOUR_MS);
  expect(retryAfterMs).toBeLessThanOrEqual(24 * HOUR_MS + 1000);
  expect(third).toMatchObject({ kind: "published" });
});

test("when the app's 24-hour quota at X is used up, posts of all accounts are refused until the quota resets", async () => {
  const [first, second, third] = await publishThree({ xAppPostsPerDay: 1 });
  expect(first).toMatchObject({ kind: "published" });
  for (const refused of [second, third])
    expect(refused).toMatchObject({ code: "platform_quota", isLimit: true, isOfApp: true });
});

test("after the app has reached its usage cap at X, posts and deletions are refused for all accounts for hours", async () => {
  const publication = await createPublication("before");
  const published = await x.publish(publication, {}, guard);
  await platform.control("POST", "settings", { xUsageCap: "reached" });
  const refused = await x.publish({ ...publication, text: "after" }, {}, guard);
  const id = published.kind === "published" ? (published.externalId ?? "") : "";
  const deletion = await x.delete(publication, id, new AbortController().signal);
  for (const limited of [refused, deletion])
    expect(limited).toMatchObject({ code: "platform_quota", isLimit: true, isOfApp: true });
});

test("while the limit of the app at X is used up, a reply to a comment is definitely refused, and its account waits as long as for a post", async () => {
  const publication = await createPublication("post");
  const published = await x.publish(publication, {}, guard);
  const id = published.kind === "published" ? (published.externalId ?? "") : "";
  const text = `hi @${publication.username}`;
  const commentId = await addComment(platform, publication, { mediaId: id, text });
  await platform.control("POST", "settings", { quotas: true, xAppPostsPerDay: 0 });
  const comments = createXCommentsConnector({ baseUrl: platform.url, mayResend: true });
  const refused = await comments.reply?.(
    publication,
    { mediaId: id, commentId, text: "thanks", requestId: publication.targetId },
    guard,
  );
  expect(refused).toMatchObject({ kind: "retryable", code: "platform_quota", isLimit: true });
  const calls = await platform.listRequests();
  expect(calls.filter(({ path }) => path.endsWith("/tweets"))).toHaveLength(2);
});

test("after the app has reached its usage cap at X, metrics are not read for hours and are not lost", async () => {
  const publication = await createPublication("measured");
  const published = await x.publish(publication, {}, guard);
  const id = published.kind === "published" ? (published.externalId ?? "") : "";
  await platform.control("POST", "settings", { xUsageCap: "reached" });
  const metrics = createXMetricsConnector({ baseUrl: platform.url });
  const answer = await metrics.readMetrics(publication, [id], new AbortController().signal);
  expect(answer).toMatchObject({ kind: "limited" });
  expect("retryAfterMs" in answer ? answer.retryAfterMs : 0).toBeGreaterThanOrEqual(6 * HOUR_MS);
});
