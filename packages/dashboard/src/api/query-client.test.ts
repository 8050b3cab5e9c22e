import { PostriderConnectionError, PostriderError } from "@postrider/client";
import { onlineManager } from "@tanstack/react-query";
import { expect, test } from "vitest";
import { queryClient } from "./query-client.ts";

const refusal = (code: string, status = 503) =>
  new PostriderError({
    code,
    message: "any",
    status,
    details: [],
    requestId: null,
    retryAfterSeconds: 0,
  });

/** Reads once, with the given errors before the answer, and returns the number of requests. */
async function read(...errors: readonly Error[]): Promise<number> {
  let requests = 0;
  await queryClient.query({
    queryKey: [crypto.randomUUID()],
    ...queryClient.getDefaultOptions().queries,
    queryFn: () => {
      const error = errors[requests];
      requests += 1;
      return error === undefined ? "answer" : Promise.reject(error);
    },
  });
  return requests;
}

test("a read that is not answered, or that the server cannot answer for a while, is repeated until it is", async () => {
  expect(await read(refusal("unavailable"), refusal("rate_limited", 429))).toBe(3);
  expect(await read(new PostriderConnectionError("GET /session", new Error("reset")))).toBe(2);
});

test("a read that the server or a platform refuses is not repeated", async () => {
  for (const code of ["unauthenticated", "not_found", "platform_unavailable"])
    await expect(read(refusal(code))).rejects.toMatchObject({ code });
});

test("a read is sent although the browser says that it is offline, so that the frame can say it", async () => {
  onlineManager.setOnline(false);
  try {
    expect(await read()).toBe(1);
  } finally {
    onlineManager.setOnline(true);
  }
});
