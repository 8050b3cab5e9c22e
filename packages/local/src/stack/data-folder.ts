import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import type { Layout } from "#src/stack/layout.ts";
import { forgetDemo } from "#src/stack/secrets.ts";

/**
 * Deletes the data of earlier starts of the local stack. Passwords and keys stay, because an external database may
 * still need them.
 */
export function forgetData(layout: Layout): void {
  for (const folder of [
    layout.postgres,
    layout.kafka,
    layout.simulator,
    layout.media,
    layout.mediaTemp,
  ])
    rmSync(folder, { recursive: true, force: true });

  forgetDemo(layout.secretsFile);
}

/** Starts new log files and moves the log files of the last start into a folder beside them. */
export function rotateLogs(layout: Layout): void {
  const previous = `${layout.logs}.previous`;
  if (existsSync(layout.logs)) {
    rmSync(previous, { recursive: true, force: true });
    renameSync(layout.logs, previous);
  }
  mkdirSync(layout.logs, { recursive: true });
}
