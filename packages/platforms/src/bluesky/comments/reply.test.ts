import { newId } from "@postrider/shared/ids";
import { expect, test } from "vitest";
import { timeOfTid } from "#src/bluesky/publishing/put-post.ts";
import { identifyReply } from "./connector.ts";

test("the record key and the time of a Bluesky reply depend only on the id of its request and contain the time of this id", () => {
  const requestId = newId();
  const { rkey, createdAt } = identifyReply(requestId);
  expect(identifyReply(requestId)).toEqual({ rkey, createdAt });
  expect(rkey).toMatch(/^[234567abcdefghij][234567a-z]{12}$/);
  expect(timeOfTid(rkey)).toEqual(createdAt);
  expect(Math.abs(createdAt.getTime() - Date.now())).toBeLessThan(60_000);
});

test("two requests of the same millisecond have different record keys for their Bluesky replies", () => {
  const start = "019aaf00-0000-7000-8000-0000";
  const first = identifyReply(`${start}00000001`);
  expect(first.rkey).not.toBe(identifyReply(`${start}80000001`).rkey);
});
