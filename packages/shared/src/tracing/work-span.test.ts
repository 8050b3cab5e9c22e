import { expect, test } from "vitest";
import { findContext } from "#src/telemetry/request-context.ts";
import { inWorkContext, inWorkSpan } from "./work-span.ts";

const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const work = {
  workspaceId: "w",
  platform: "x",
  cause: { requestid: "r1", traceparent, "ce-type": "another header" },
};
const seen = () => Promise.resolve(findContext());

test("work runs in the context of the API request that led to it, with the workspace of the work", async () => {
  expect(await inWorkSpan("publish target", work, {}, seen)).toEqual({
    requestId: "r1",
    traceparent,
    workspaceId: "w",
  });
});

test("work whose API request is not known runs in a new context", async () => {
  const context = await inWorkSpan("publish target", { ...work, cause: null }, {}, seen);
  expect(context).toEqual({ requestId: expect.any(String), workspaceId: "w" });
  expect(context?.requestId).not.toBe("r1");
});

test("code that serves several pieces of work runs in the context of their API request only if they have the same one", () => {
  const other = { ...work, cause: { requestid: "r2" } };
  expect(inWorkContext([work, work], findContext)?.requestId).toBe("r1");
  expect(["r1", "r2"]).not.toContain(inWorkContext([work, other], findContext)?.requestId);
});
