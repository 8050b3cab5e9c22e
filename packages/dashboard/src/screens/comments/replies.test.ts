import { PostriderError } from "@postrider/client";
import { expect, test } from "vitest";
import {
  asked,
  failed,
  isOutdated,
  parseReplies,
  type Replies,
  replyTo,
  withReply,
} from "./replies.ts";

const HOUR_MS = 3_600_000;
const written = (text: string) => ({ text, key: `key of ${text}`, isAsked: false });

test("a reply keeps its key while it is written, and is forgotten when it is emptied", () => {
  const first = replyTo({}, "a", "k1");
  const kept = withReply({}, "a", { ...first, text: "Yes" });
  expect(replyTo(kept, "a", "k2")).toEqual({ text: "Yes", key: "k1", isAsked: false });
  expect(withReply(kept, "a", { ...first, text: "" })).toEqual({});
});

test("a reply whose request has no answer, or was accepted, is not forgotten with its text", () => {
  const asked = { text: "", key: "k", isAsked: true };
  const accepted = { text: "", key: "k", isAsked: false, actionId: "x" };
  expect(withReply({}, "a", asked)).toEqual({ a: asked });
  expect(withReply({}, "a", accepted)).toEqual({ a: accepted });
});

test("beyond 200 replies the oldest accepted ones are forgotten, and nothing that was written", () => {
  let replies: Replies = withReply({}, "mine", written("unsent"));
  for (let index = 0; index < 205; index += 1)
    replies = withReply(replies, `c${index}`, {
      text: "",
      key: "k",
      isAsked: false,
      actionId: String(index),
    });
  expect(Object.keys(replies)).toHaveLength(200);
  expect(replies["mine"]).toEqual(written("unsent"));
  expect(replies["c0"]).toBeUndefined();
});

test("replies that cannot be read are none", () => {
  expect(parseReplies("{")).toEqual({});
  expect(parseReplies('{"a":3,"b":{"text":"Yes","key":"k","isAsked":false}}')).toEqual({
    b: { text: "Yes", key: "k", isAsked: false },
  });
});

test("a reply without an answer is sent again under its key for 23 h, and later under a new one", () => {
  const first = asked(written("Yes"), "new", 1_000);
  expect(first).toEqual({ text: "Yes", key: "key of Yes", isAsked: true, askedAt: 1_000 });
  const soon = 1_000 + 22 * HOUR_MS;
  expect(isOutdated(first, soon)).toBe(false);
  expect(asked(first, "new", soon)).toEqual(first);
  const late = 1_000 + 24 * HOUR_MS;
  expect(isOutdated(first, late)).toBe(true);
  expect(asked(first, "new", late)).toMatchObject({ key: "new", askedAt: late });
});

test("a repetition that is refused before its key is looked at makes no second reply", () => {
  const fields = { message: "any", details: [], requestId: null, retryAfterSeconds: null };
  const refusal = new PostriderError({ ...fields, status: 429, code: "rate_limited" });
  const before = written("Yes");
  const sent = asked(before, "new");
  expect(failed(before, sent, refusal, "new")).toMatchObject({ key: "new", isAsked: false });
  const again = asked(sent, "new");
  expect(failed(sent, again, refusal, "new")).toBe(sent);
});
