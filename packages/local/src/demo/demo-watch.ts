import {
  type Client,
  type PostDetail,
  type PostTarget,
  PostWaitTimeoutError,
} from "@postrider/client";
import { progressLine } from "#src/demo/demo-view.ts";

const openStatuses = new Set(["pending", "publishing"]);
const timeoutMs = 120_000;
/** Interval in milliseconds at which the demo draws its progress. */
const maxIntervalMs = 50;
const { stdout } = process;

/**
 * Prints the progress of a post's targets until all of them have ended: in place on a terminal, otherwise
 * one line for each change.
 */
export async function watchPost(
  client: Client,
  post: PostDetail,
  signal: AbortSignal,
): Promise<PostDetail> {
  const began = performance.now();
  const settledAt = new Map<string, number>();
  const drawn = new Map<string, string>();
  const draw = ({ targets }: PostDetail): void => {
    const now = performance.now() - began;
    for (const target of targets) drawTarget(target, elapsedOf(target, settledAt, now), drawn);
  };
  const onUpdate = (latest: PostDetail): void => {
    if (stdout.isTTY) stdout.write(`\u001b[${latest.targets.length}A`);

    draw(latest);
  };
  draw(post);
  try {
    return await client.waitForPost(post.id, { timeoutMs, maxIntervalMs, onUpdate, signal });
  } catch (error) {
    if (error instanceof PostWaitTimeoutError) return error.post;
    throw error;
  }
}

function elapsedOf(target: PostTarget, settledAt: Map<string, number>, now: number): number {
  if (openStatuses.has(target.status)) return now;

  const settled = settledAt.get(target.accountId) ?? now;
  settledAt.set(target.accountId, settled);
  return settled;
}

function drawTarget(target: PostTarget, elapsedMs: number, drawn: Map<string, string>): void {
  if (stdout.isTTY) stdout.write(`\u001b[2K${progressLine(target, elapsedMs)}\n`);
  else if (drawn.get(target.accountId) !== target.status) {
    drawn.set(target.accountId, target.status);
    stdout.write(`${progressLine(target, elapsedMs)}\n`);
  }
}
