import { findContext, runInContext } from "@postrider/shared/telemetry/request-context";
import { afterEach, expect, test, vi } from "vitest";
import { createSharedReads } from "#src/clients/shared-reads.ts";

/** Calls that end when the test says so. */
function recordCalls() {
  const calls: (PromiseWithResolvers<string> & { readonly requestId: string | undefined })[] = [];
  const read = () => {
    const call = Promise.withResolvers<string>();
    calls.push({ ...call, requestId: findContext()?.requestId });
    return call.promise;
  };
  return { calls, read };
}

afterEach(() => {
  vi.useRealTimers();
});

test("equal reads that are asked while a call is under way are answered by one further call, which begins after it", async () => {
  const { calls, read } = recordCalls();
  const shared = createSharedReads<string>();
  const ask = (requestId: string) => runInContext({ requestId }, () => shared("w", read));
  const [first, second, third] = [ask("a"), ask("b"), ask("c")];
  expect(calls.map(({ requestId }) => requestId)).toEqual(["a"]);
  calls[0]?.resolve("before");
  expect(await first).toBe("before");
  await expect.poll(() => calls.map(({ requestId }) => requestId)).toEqual(["a", "b,c"]);
  calls[1]?.resolve("after");
  expect(await Promise.all([second, third])).toEqual(["after", "after"]);
});

test("a read that is alone begins at once, and equal ones soon after it share one call although it has ended", async () => {
  vi.useFakeTimers();
  const { calls, read } = recordCalls();
  const shared = createSharedReads<string>();
  const first = shared("w", read);
  calls[0]?.resolve("first");
  expect(await first).toBe("first");
  const soon = [shared("w", read), shared("w", read)];
  expect(calls).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(25);
  expect(calls).toHaveLength(2);
  calls[1]?.resolve("second");
  expect(await Promise.all(soon)).toEqual(["second", "second"]);
  await vi.advanceTimersByTimeAsync(25);
  void shared("w", read);
  expect(calls).toHaveLength(3);
});

test("a call that fails fails neither the next one nor reads of something else", async () => {
  const { calls, read } = recordCalls();
  const shared = createSharedReads<string>();
  const [first, second, other] = [shared("w", read), shared("w", read), shared("v", read)];
  expect(calls).toHaveLength(2);
  calls[0]?.reject(new Error("unavailable"));
  await expect(first).rejects.toThrow("unavailable");
  await expect.poll(() => calls.length).toBe(3);
  calls[1]?.resolve("other");
  calls[2]?.resolve("next");
  expect(await Promise.all([second, other])).toEqual(["next", "other"]);
});
