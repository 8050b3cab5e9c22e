import { expect, test } from "vitest";
import { retryAll } from "./retry-account.ts";

const answerOf = (retried: number, nextAfter: string | null, refused: readonly string[] = []) => ({
  retried,
  isMore: nextAfter !== null,
  nextAfter,
  refused: refused.map((postId) => ({ postId, code: "quota_exceeded" })),
});

test("failures beyond those of one request are retried too, also behind posts that were refused", async () => {
  const answers = [answerOf(49, "b", ["a"]), answerOf(0, "d", ["c", "d"]), answerOf(3, null)];
  const asked: (string | undefined)[] = [];
  const result = await retryAll((after) => {
    asked.push(after);
    return Promise.resolve(answers.shift() ?? answerOf(0, null));
  });
  expect(result).toEqual({ retried: 52, refused: 3 });
  expect(asked).toEqual([undefined, "b", "d"]);
});
