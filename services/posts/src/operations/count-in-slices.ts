import { createTextCounter, type TextCounter } from "@postrider/platforms/text/text";
import { countTexts } from "#src/domain/check-post.ts";
import type { PostContent } from "#src/domain/post.ts";
import { runInSlices } from "#src/operations/run-in-slices.ts";

/** Maximum number of UTF-16 units of a post's texts that are counted at once: counting them takes a few milliseconds at most. */
const MAX_SHORT_LENGTH = 4_096;

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
  else await runInSlices(steps);
  return count;
}
