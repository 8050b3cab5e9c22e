import type { Client } from "@connectrpc/connect";
import type { PostService } from "@postrider/contracts/posts/v1/post_service_pb";
import { unavailable } from "@postrider/shared/errors";
import { newId } from "@postrider/shared/ids";
import { runInContext } from "@postrider/shared/telemetry/request-context";

export interface PostWatcher {
  /** Final, deleted or aborted. Throws `unavailable` if too many requests wait. */
  untilFinal(workspaceId: string, id: string, signal: AbortSignal): Promise<void>;
  /** Ends all waits, and makes later ones end at once, because the gateway stops. */
  stop(): void;
}

type PostsClient = Pick<Client<typeof PostService>, "batchGetPostStatuses">;

interface Post {
  readonly workspaceId: string;
  readonly id: string;
  readonly waiting: Set<() => void>;
}

/** A post keeps these statuses unless a client changes it. */
const FINAL: ReadonlySet<string> = new Set(["published", "partial", "failed", "cancelled"]);
/** Requests that wait in this process; one more is refused. */
const MAX_WAITING = 10_000;
const MAX_REFS = 1_000;
const MIN_INTERVAL_MS = 100;
/** Each watched post lengthens the interval between two calls, to save processor time. */
const INTERVAL_PER_POST_MS = 0.4;
const RETRY_AFTER_MS = 1_000;

/** One call per 1,000 posts and interval, so that waiting costs a client no call of its own. */
class PollingPostWatcher implements PostWatcher {
  readonly #client: PostsClient;
  readonly #posts = new Map<string, Post>();
  readonly #maxWaiting: number;
  #waitingCount = 0;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(client: PostsClient, maxWaiting: number) {
    this.#client = client;
    this.#maxWaiting = maxWaiting;
  }

  async untilFinal(workspaceId: string, id: string, signal: AbortSignal): Promise<void> {
    if (this.#isStopped || signal.aborted) return;
    if (this.#waitingCount >= this.#maxWaiting) throw unavailable(undefined, RETRY_AFTER_MS);
    const key = `${workspaceId}/${id}`;
    const post = this.#posts.get(key) ?? { workspaceId, id, waiting: new Set() };
    this.#posts.set(key, post);
    const { promise, resolve } = Promise.withResolvers<void>();
    post.waiting.add(resolve);
    this.#waitingCount += 1;
    signal.addEventListener("abort", () => resolve(), { once: true });
    // The first call is made at once, because the post may be final already.
    this.#schedule(this.#waitingCount === 1 ? 0 : this.#intervalMs());
    await promise;
    this.#waitingCount -= 1;
    post.waiting.delete(resolve);
    if (post.waiting.size === 0) this.#posts.delete(key);
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    for (const { waiting } of this.#posts.values()) for (const end of waiting) end();
  }

  #intervalMs(): number {
    return MIN_INTERVAL_MS + INTERVAL_PER_POST_MS * this.#posts.size;
  }

  #schedule(delayMs: number): void {
    if (this.#timer !== undefined || this.#isStopped) return;
    // A call serves the requests of many clients, so it has a request id of its own.
    this.#timer = setTimeout(
      () => void runInContext({ requestId: newId() }, () => this.#round()),
      delayMs,
    );
  }

  async #round(): Promise<void> {
    const posts = [...this.#posts.values()];
    for (let start = 0; start < posts.length; start += MAX_REFS)
      await this.#ask(posts.slice(start, start + MAX_REFS));
    this.#timer = undefined;
    if (this.#posts.size > 0) this.#schedule(this.#intervalMs());
  }

  /** After a failed call, the next call asks again. */
  async #ask(posts: readonly Post[]): Promise<void> {
    const refs = posts.map(({ workspaceId, id }) => ({ workspaceId, id }));
    const answer = await this.#client.batchGetPostStatuses({ refs }).catch(() => undefined);
    if (answer === undefined) return;
    const open = new Set(
      answer.statuses
        .filter(({ status }) => !FINAL.has(status))
        .map(({ ref }) => `${ref?.workspaceId}/${ref?.id}`),
    );
    for (const { workspaceId, id, waiting } of posts)
      if (!open.has(`${workspaceId}/${id}`)) for (const end of waiting) end();
  }
}

/** @param maxWaiting One more waiting request is refused. Only tests lower it. */
export function createPostWatcher(client: PostsClient, maxWaiting = MAX_WAITING): PostWatcher {
  return new PollingPostWatcher(client, maxWaiting);
}
