import type { PostSummary } from "@postrider/client";
import { expect, test } from "vitest";
import { atNewTimes, holdMove, whenMoveSent } from "./pending-moves.ts";

const [FROM, TO, LATER] = ["2030-01-01T00:00:00Z", "2030-01-02T00:00:00Z", "2030-01-03T00:00:00Z"];
/** As a list that was read before the move has it. */
const POSTS = [{ id: "a", scheduledAt: FROM }] as unknown as readonly PostSummary[];
const shown = () => atNewTimes(POSTS)[0]?.scheduledAt;

test("a moved post stays at its new time, whatever is read meanwhile, until a list was read after the move", async () => {
  const [sent, read] = [Promise.withResolvers<string>(), Promise.withResolvers<void>()];
  const moved = holdMove({ id: "a", to: TO }, sent.promise, () => read.promise);
  expect(shown()).toBe(TO);
  sent.resolve("etag");
  expect(await moved).toBe("etag");
  expect(shown()).toBe(TO);
  read.resolve();
  await expect.poll(shown).toBe(FROM);
});

test("a refused move is shown no longer, and a post that is moved again stays at the newest time", async () => {
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const readAgain = () => Promise.resolve();
  const firstMove = holdMove({ id: "a", to: TO }, first.promise, readAgain);
  const secondMove = holdMove({ id: "a", to: LATER }, second.promise, readAgain);
  first.resolve();
  await firstMove;
  expect(shown()).toBe(LATER);
  let isKnown = false;
  const known = whenMoveSent("a").then(() => {
    isKnown = true;
  });
  expect(isKnown).toBe(false);
  second.reject(new Error("412"));
  await expect(secondMove).rejects.toThrow("412");
  await known;
  expect(shown()).toBe(FROM);
});
