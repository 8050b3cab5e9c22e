import { NIL_ID } from "#src/ids.ts";
import { startLoop } from "#src/process/loop.ts";

/** Goes through a table page by page, and again from its first page after a longer pause. */
export function startPageLoop(options: {
  /** Pause after the last page, and after an error. */
  readonly idleMs: number;
  /** Between two pages, so that a long run leaves the database to other work. */
  readonly pauseMs: number;
  /** Handles the page after an id. Returns its last id, or undefined after the last page. */
  readonly page: (after: string) => Promise<string | undefined>;
  readonly onError: (error: unknown) => void;
}): AsyncDisposable {
  const { idleMs, pauseMs, page, onError } = options;
  let after = NIL_ID;
  return startLoop({
    idleMs,
    work: async () => {
      const last = await page(after);
      after = last ?? NIL_ID;
      return last === undefined ? false : pauseMs;
    },
    onError,
  });
}
