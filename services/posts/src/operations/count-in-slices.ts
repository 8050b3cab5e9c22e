import { setImmediate } from "node:timers/promises";
import { createTextCounter, type TextCounter } from "@postrider/platforms/text/text";
import { Semaphore } from "@postrider/shared/limits/semaphore";
import { countTexts } from "#src/domain/check-post.ts";
import type { PostContent } from "#src/domain/post.ts";

/** Duration in milliseconds after which the count of a post's texts lets the service do other work. */
const SLICE_MS = 3;
/** Maximum number of UTF-16 units of a post's texts that are counted at once: counting them takes a few milliseconds at most. */
const MAX_SHORT_LENGTH = 4_096;

/** Lets one slice of all counts run per turn of the event loop, however many requests have long texts. */
const turns = new Semaphore({ total: 1, maxWaiting: Infinity });

/** Whether the texts of a post are so short that they can be counted at once. */
export function hasShortTexts({ content, options }: Pick<PostContent, "content" | "options">) {
  let length = content.length;
  for (const { content: text = "", title = "" } of Object.values(options))
    length += text.length + title.length;
  return length <= MAX_SHORT_LENGTH;
}

/**
 * Counts the texts of a post. Long texts are counted in slices, of which one runs per turn of the event loop, so that short
 * requests wait for one slice at most each time they are continued.
 */
export async function countInSlices(
  post: PostContent,
  known: Parameters<typeof countTexts>[1],
): Promise<TextCounter> {
  const count = createTextCounter();
  const steps = countTexts(post, known, count);
  if (hasShortTexts(post)) for (const _account of steps);
  else while (!(await runSlice(steps)));
  return count;
}

/** Runs steps until a slice has passed; returns whether they are complete. */
async function runSlice(steps: Iterator<void>): Promise<boolean> {
  using _turn = await turns.acquire();
  const endsAt = performance.now() + SLICE_MS;
  let isDone = false;
  while (!isDone && performance.now() < endsAt) isDone = steps.next().done === true;
  // The turn ends after the event loop has done other work, so the slice of another request does not follow directly.
  await setImmediate();
  return isDone;
}
