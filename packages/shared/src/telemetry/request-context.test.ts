import { expect, test } from "vitest";
import { shareContext, type RequestContext } from "./request-context.ts";

const context = (requestId: string): RequestContext => ({
  requestId,
  workspaceId: `workspace of ${requestId}`,
  traceparent: `trace of ${requestId}`,
  deadlineAt: 1,
});

test("a call that one request makes has the context of this request", () => {
  const one = context("a");
  expect(shareContext([one])).toBe(one);
  expect(shareContext([one, undefined, one])).toBe(one);
  expect(shareContext([undefined])).toBeUndefined();
});

test("a call that several requests share carries the request ids of all of them, and no other data of their contexts", () => {
  expect(shareContext([context("a"), context("b"), context("a")])).toEqual({ requestId: "a,b" });
});

test("the list of request ids of a call that very many requests share is shortened to fit into a header", () => {
  const many = Array.from({ length: 500 }, (_unused, index) =>
    context(`${index}`.padStart(36, "0")),
  );
  const shared = shareContext(many)?.requestId ?? "";
  expect(shared.length).toBeLessThanOrEqual(4_000);
  expect(shared.split(",")[0]).toBe("0".repeat(36));
});
