import { tryHalving } from "@postrider/shared/bus/halving";
import { isTransientError } from "@postrider/shared/bus/retries";
import { BoundedMap } from "@postrider/shared/limits/bounded-map";
import type { Logger } from "@postrider/shared/telemetry/logger";

const LEFT_OUT_MS = 60_000;
/** More posts than a replica can try within `LEFT_OUT_MS`, so that none is tried again earlier. */
const MAX_LEFT_OUT = 20_000;

/**
 * Posts that a job could not handle, although others of the same batch could. They are left out for
 * a minute.
 */
export class RefusedPosts {
  readonly #posts = new BoundedMap<string, { readonly id: string; readonly at: number }>(
    MAX_LEFT_OUT,
  );
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  list(): readonly string[] {
    const oldest = performance.now() - LEFT_OUT_MS;
    this.#posts.deleteOldestWhile(({ at }) => at < oldest);
    return [...this.#posts.values()].map(({ id }) => id);
  }

  /**
   * @param work Handles a batch, or only these posts, in one transaction. Returns their number.
   * @param list The posts that are handled in halves if the batch is refused.
   * @returns The number of handled posts.
   */
  async handleOthers(
    work: (only: readonly string[] | null) => Promise<number>,
    list: () => Promise<readonly string[]>,
  ): Promise<number> {
    try {
      return await work(null);
    } catch (error) {
      if (isTransientError(error)) throw error;
    }
    let count = 0;
    const failures = await tryHalving(await list(), async (part) => {
      count += await work(part);
    });
    for (const { item: id, error } of failures) {
      this.#posts.set(id, { id, at: performance.now() });
      this.#logger.error(
        { err: error, job: "start-due-posts", postId: id },
        "a scheduled post could neither be started nor be marked as failed; the job start-due-posts tries again in a minute",
      );
    }
    return count;
  }
}
