import type { PostTarget } from "@postrider/client";

const signs: Readonly<Record<string, string>> = {
  pending: "·",
  publishing: "…",
  published: "✓",
  failed: "✗",
};

/** Formats the progress line of one target in the demo. */
export function progressLine(target: PostTarget, elapsedMs: number): string {
  const sign = signs[target.status] ?? "?";
  const seconds = `${(elapsedMs / 1000).toFixed(1)} s`;
  const reason = target.error === null ? "" : `  ${target.error.code}`;
  return `  ${sign} ${target.platform.padEnd(10)} ${target.username.padEnd(28)} ${target.status.padEnd(11)} ${seconds.padStart(7)}${reason}`;
}

/** A target, and whether readers of the platform see its post. */
export interface VerifiedTarget {
  /** The kind of a demo post: a text, an image or a video. */
  readonly kind: string;
  readonly target: PostTarget;
  readonly visible: boolean;
}

/** Formats the result table that the demo prints at its end. */
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
