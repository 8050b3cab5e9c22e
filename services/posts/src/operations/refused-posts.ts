import { BoundedMap } from "@postrider/shared/limits/bounded-map";
import { inHalves, isOfItems } from "@postrider/shared/postgres/in-halves";
import type { Logger } from "@postrider/shared/telemetry/logger";

const LEFT_OUT_MS = 60_000;
const MAX_LEFT_OUT = 20_000;
const MAX_RETRIED = 1_024;

/** Handles these posts in one transaction; null: those that are due. Returns their number. */
type Work = (only: readonly string[] | null) => Promise<number>;

/**
 * Posts that a job could not handle, although others of the same batch could. They are left out of
 * all batches, and are tried again apart after a minute: in a batch, one that takes too long would
 * delay the others again and again.
 */
export class RefusedPosts {
  readonly #posts = new BoundedMap<string, { readonly id: string; readonly at: number }>(
    MAX_LEFT_OUT,
  );
  readonly #logger: Logger;
  #retrySize = 1;
  #retryAt = Number.NEGATIVE_INFINITY;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  list(): readonly string[] {
    return [...this.#posts.values()].map(({ id }) => id);
  }

  /**
   * Tries posts again that were left out a minute ago: one, and twice as many after each success,
   * because what refused all of them may have passed. After a failure none is tried for a minute:
   * one that takes too long keeps the others waiting, too.
   *
   * @param listDue Those of the posts that are still due: another replica may be at them.
   */
  async retry(
    work: Work,
    listDue: (ids: readonly string[]) => Promise<readonly string[]>,
  ): Promise<boolean> {
    const now = performance.now();
    const oldest = [...this.#posts.values()].slice(0, this.#retrySize);
    const ids = oldest.filter(({ at }) => now - at >= LEFT_OUT_MS).map(({ id }) => id);
    if (ids.length === 0 || now < this.#retryAt) return false;
    try {
      const count = await work(ids);
      const left = new Set(count < ids.length ? await listDue(ids) : []);
      for (const id of ids)
        if (left.has(id)) this.#leaveOut(id);
        else this.#posts.delete(id);
      this.#retrySize = Math.min(MAX_RETRIED, this.#retrySize * 2);
    } catch (error) {
      if (!isOfItems(error, now)) throw error;
      for (const id of ids) this.#refuse(id, error);
      this.#retrySize = 1;
      this.#retryAt = performance.now() + LEFT_OUT_MS;
    }
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
      if (!isOfItems(error, startedAt)) throw error;
    }
    return await this.#handle(await list(), work);
  }

  #leaveOut(id: string): void {
    this.#posts.set(id, { id, at: performance.now() });
  }

  #refuse(id: string, error: unknown): void {
    this.#leaveOut(id);
    this.#logger.error(
      { err: error, job: "start-due-posts", postId: id },
      "a scheduled post could neither be started nor be marked as failed; the job start-due-posts tries again in a minute",
    );
  }

  async #handle(ids: readonly string[], work: Work): Promise<number> {
    const counts = await inHalves(ids, work, (id, error) => this.#refuse(id, error));
    return counts.reduce((sum, count) => sum + count, 0);
  }
}
