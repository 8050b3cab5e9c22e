import {
  type Client,
  type PostDetail,
  type PostTarget,
  PostWaitTimeoutError,
} from "@postrider/client";

const signs: Readonly<Record<string, string>> = {
  pending: "·",
  publishing: "…",
  published: "✓",
  failed: "✗",
};

export function progressLine(target: PostTarget, elapsedMs: number): string {
  const sign = signs[target.status] ?? "?";
  const seconds = `${(elapsedMs / 1000).toFixed(1)} s`;
  const reason = target.error === null ? "" : `  ${target.error.code}`;
  return `  ${sign} ${target.platform.padEnd(10)} ${target.username.padEnd(28)} ${target.status.padEnd(11)} ${seconds.padStart(7)}${reason}`;
}

export interface VerifiedTarget {
  readonly kind: string;
  readonly target: PostTarget;
  readonly visible: boolean;
}

export function resultTable(rows: readonly VerifiedTarget[]): string {
  const cells = rows.map(({ kind, target, visible }) => [
    target.platform,
    target.username,
    kind,
    target.error === null ? target.status : `${target.status}: ${target.error.code}`,
    visible ? "yes" : "no",
    target.permalink ?? "–",
  ]);
  const head = ["platform", "account", "post", "status", "visible", "permalink"];
  const widths = head.map((title, column) =>
    Math.max(title.length, ...cells.map((row) => (row[column] ?? "").length)),
  );
  const line = (row: readonly string[]): string =>
    `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")}`.trimEnd();
  const rule = widths.map((width) => "─".repeat(width));
  return `${[head, rule, ...cells].map(line).join("\n")}\n`;
}

const openStatuses = new Set(["pending", "publishing"]);
const timeoutMs = 120_000;
const maxIntervalMs = 50;
const { stdout } = process;

/** Until all targets have ended: in place on a terminal, otherwise one line for each change. */
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
