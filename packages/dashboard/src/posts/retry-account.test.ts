import { expect, test } from "vitest";
import { retryAll } from "./retry-account.ts";

const answerOf = (retried: number, isMore: boolean, refused: readonly string[] = []) => ({
  retried,
  isMore,
  refused: refused.map((postId) => ({ postId, code: "quota_exceeded" })),
});

test("failures beyond those of one request are retried too, and each refused post counts once", async () => {
  const answers = [answerOf(49, true, ["a"]), answerOf(48, true, ["a", "b"]), answerOf(3, false)];
  const result = await retryAll(() => Promise.resolve(answers.shift() ?? answerOf(0, false)));
  expect(result).toEqual({ retried: 100, refused: 2 });
  expect(answers).toEqual([]);
});

test("a request that retries nothing is the last one", async () => {
  let requests = 0;
  const refuse = () => {
    requests += 1;
    return Promise.resolve(answerOf(0, true, ["a"]));
  };
  expect(await retryAll(refuse)).toEqual({ retried: 0, refused: 1 });
  expect(requests).toBe(1);
});
