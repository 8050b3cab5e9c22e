import { isTooSlow } from "@postrider/shared/bus/batch-size";
import { isTransientError } from "@postrider/shared/bus/retries";
import { BoundedMap } from "@postrider/shared/limits/bounded-map";
import { inHalves } from "@postrider/shared/postgres/in-halves";
import type { Logger } from "@postrider/shared/telemetry/logger";

const LEFT_OUT_MS = 60_000;
const MAX_LEFT_OUT = 20_000;

/** Handles these posts in one transaction; null: those that are due. Returns their number. */
type Work = (only: readonly string[] | null) => Promise<number>;

/**
 * Posts that a job could not handle, although others of the same batch could. They are left out of
 * all batches, and each is tried again alone after a minute: in a batch, one that takes too long
 * would delay the others again and again.
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
    return [...this.#posts.values()].map(({ id }) => id);
  }

  /** Tries the post that was left out first again if that was a minute ago. */
  async retryFirst(work: Work): Promise<boolean> {
    const { value: first } = this.#posts.values().next();
    if (first === undefined || performance.now() - first.at < LEFT_OUT_MS) return false;
    this.#leaveOut(first.id);
    await this.#handle([first.id], work);
    return true;
  }

  /**
   * @param list The posts that are handled in halves if the batch is refused or takes too long.
   * @returns The number of handled posts.
   */
  async handleOthers(work: Work, list: () => Promise<readonly string[]>): Promise<number> {
    const startedAt = performance.now();
    try {
      return await work(null);
    } catch (error) {
      const isTimedOut = isTooSlow(error, performance.now() - startedAt);
      if (!isTimedOut && isTransientError(error)) throw error;
    }
    return await this.#handle(await list(), work);
  }

  #leaveOut(id: string): void {
    this.#posts.set(id, { id, at: performance.now() });
  }

  async #handle(ids: readonly string[], work: Work): Promise<number> {
    const handle = async (part: readonly string[]): Promise<number> => {
      const count = await work(part);
      for (const id of part) this.#posts.delete(id);
      return count;
    };
    const counts = await inHalves(ids, handle, (id, error) => {
      this.#leaveOut(id);
      this.#logger.error(
        { err: error, job: "start-due-posts", postId: id },
        "a scheduled post could neither be started nor be marked as failed; the job start-due-posts tries again in a minute",
      );
    });
    return counts.reduce((sum, count) => sum + count, 0);
  }
}
