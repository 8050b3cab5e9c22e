import { expect, test } from "vitest";
import { toComment } from "#src/x/comments/tweets.ts";
import { toThreadComment } from "#src/youtube/comments/threads.ts";

test.each([
  ["ada", true],
  ["eve", false],
])("a reply on X by %s is marked as a comment of the account ada itself: %s", (authorId, isOwn) => {
  const account = { externalId: "ada", username: "ada", accessToken: "token", attributes: {} };
  const tweet = { id: "1", author_id: authorId, text: "Hello" };
  expect(toComment(tweet, {}, account).isOwn).toBe(isOwn);
});

test.each([
  ["ada", true],
  ["eve", false],
])(
  "a YouTube comment by the channel %s on a video of the channel ada is marked as the account's own: %s",
  (author, isOwn) => {
    const snippet = { publishedAt: "2026-11-23T12:00:00Z", authorChannelId: { value: author } };
    const thread = { snippet: { channelId: "ada", topLevelComment: { id: "1", snippet } } };
    expect(toThreadComment(thread)?.comment.isOwn).toBe(isOwn);
  },
);
