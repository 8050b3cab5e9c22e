import { type DemoPost, type DemoTarget, getPost } from "#src/demo-api.ts";
import { progressLine } from "#src/demo-view.ts";
import type { LocalStack } from "#src/local-file.ts";
import { poll } from "#src/poll.ts";

const openStatuses = new Set(["pending", "publishing"]);
const timeoutMs = 120_000;
const { stdout } = process;

/**
 * Prints the progress of a post's publishing targets until all of them have ended: in place on a terminal, otherwise
 * one line for each change.
 */
export async function watchPost(
  stack: LocalStack,
  post: DemoPost,
  signal: AbortSignal,
): Promise<DemoPost> {
  const began = performance.now();
  const settledAt = new Map<string, number>();
  const drawn = new Map<string, string>();
  let latest = post;
  const draw = (first: boolean): void => {
    const now = performance.now() - began;
    if (stdout.isTTY && !first) {
      stdout.write(`\u001b[${latest.targets.length}A`);
    }
    for (const target of latest.targets) {
      drawTarget(target, elapsedOf(target, settledAt, now), drawn);
    }
  };
  draw(true);
  await poll(
    async () => {
      signal.throwIfAborted();
      latest = await getPost(stack, post.id);
      draw(false);
      return latest.targets.some(({ status }) => openStatuses.has(status)) ? undefined : latest;
    },
    { everyMs: 50, timeoutMs },
  );
  return latest;
}

function elapsedOf(target: DemoTarget, settledAt: Map<string, number>, now: number): number {
  if (openStatuses.has(target.status)) {
    return now;
  }
  const settled = settledAt.get(target.accountId) ?? now;
  settledAt.set(target.accountId, settled);
  return settled;
}

function drawTarget(target: DemoTarget, elapsedMs: number, drawn: Map<string, string>): void {
  if (stdout.isTTY) {
    stdout.write(`\u001b[2K${progressLine(target, elapsedMs)}\n`);
  } else if (drawn.get(target.accountId) !== target.status) {
    drawn.set(target.accountId, target.status);
    stdout.write(`${progressLine(target, elapsedMs)}\n`);
  }
}
