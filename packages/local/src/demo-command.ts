import { defaultDataDir, environment } from "#src/config.ts";
import { createPost, type DemoPost, type DemoTarget, getPost, isVisible } from "#src/demo-api.ts";
import { progressLine, resultTable } from "#src/demo-view.ts";
import { probePort } from "#src/free-port.ts";
import { interruption } from "#src/interruption.ts";
import { layoutOf } from "#src/layout.ts";
import { findLauncher } from "#src/leftovers.ts";
import { type LocalStack, readLocalStack } from "#src/local-file.ts";
import { poll } from "#src/poll.ts";
import { startStack } from "#src/stack.ts";
import { parseStartOptions } from "#src/start-options.ts";

const openStatuses = new Set(["pending", "publishing"]);
const timeoutMs = 120_000;
const { stdout } = process;

/**
 * `npm run demo`: publishes to every platform that can be used, on the running stack or on one of its own.
 *
 * @returns 0 when every target is published and its platform shows it, else 1.
 */
export async function runDemo(args: readonly string[]): Promise<number> {
  const signal = interruption();
  const running = runningStack();
  if (running !== undefined) {
    return await publishEverywhere(running, signal);
  }
  const { help: _, port, ...options } = parseStartOptions(args);
  stdout.write("No stack is running: starting one for the demo …\n");
  await using stack = await startStack({
    ...options,
    // Nobody types this address, so any port will do when the usual one is taken.
    port: port ?? (await probePort(8080)) ?? 0,
    dataDir: defaultDataDir,
    env: environment,
    signal,
  });
  return await publishEverywhere(stack.describe(), signal);
}

function runningStack(): LocalStack | undefined {
  const layout = layoutOf(defaultDataDir);
  return findLauncher(layout) === undefined ? undefined : readLocalStack(layout.localFile);
}

async function publishEverywhere(stack: LocalStack, signal: AbortSignal): Promise<number> {
  const content = `Hello from Postrider, ${new Date().toISOString()}`;
  stdout.write(`\nPublishing "${content}" to ${stack.accounts.length} accounts:\n\n`);
  const post = await createPost(stack, content);
  const finished = await watch(stack, post, signal);
  const rows = await Promise.all(
    finished.targets.map(async (target) => ({ target, visible: await isVisible(stack, target) })),
  );
  stdout.write(`\n${resultTable(rows)}\n`);
  const good = rows.filter(({ target, visible }) => target.status === "published" && visible);
  stdout.write(
    `${good.length} of ${rows.length} published and visible, post ${post.id} is ${finished.status}\n`,
  );
  return good.length === rows.length && rows.length > 0 ? 0 : 1;
}

/** Draws the targets until none is open; on a terminal in place, else a line per change. */
async function watch(stack: LocalStack, post: DemoPost, signal: AbortSignal): Promise<DemoPost> {
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
