import type { Client } from "@connectrpc/connect";
import type { PostService } from "@postrider/contracts/posts/v1/post_service_pb";
import { unavailable } from "@postrider/shared/errors";
import { newId } from "@postrider/shared/ids";
import { runInContext } from "@postrider/shared/telemetry/request-context";

export interface PostWatcher {
  /**
   * Final, deleted or aborted. Throws `unavailable` if too many requests wait, also later, when
   * another workspace with fewer needs the place.
   */
  untilFinal(workspaceId: string, id: string, signal: AbortSignal): Promise<void>;
  /** Ends all waits, and makes later ones end at once, because the gateway stops. */
  stop(): void;
}

type PostsClient = Pick<Client<typeof PostService>, "batchGetPostStatuses">;

interface Wait {
  readonly id: string;
  readonly end: () => void;
  /** Ends the wait with `unavailable`, because another workspace needs its place. */
  readonly refuse: () => void;
}

/** The waits of one workspace, oldest first. */
interface Watched {
  readonly workspaceId: string;
  readonly waits: Set<Wait>;
  /** When its posts are asked for next; undefined while they are. */
  dueAt: number | undefined;
}

/** A post keeps these statuses unless a client changes it. */
const FINAL: ReadonlySet<string> = new Set(["published", "partial", "failed", "cancelled"]);
/** Requests that wait in this process. */
const MAX_WAITING = 10_000;
const MAX_REFS = 1_000;
const MIN_INTERVAL_MS = 100;
/** Each watched post lengthens the interval between two calls, to save processor time. */
const INTERVAL_PER_POST_MS = 0.4;
const RETRY_AFTER_MS = 1_000;

/**
 * One call per 1,000 posts and interval, so that waiting costs a client no call of its own. A
 * workspace with many waits lengthens its own interval, and lends its places to the others.
 */
class PollingPostWatcher implements PostWatcher {
  readonly #client: PostsClient;
  readonly #watched = new Map<string, Watched>();
  readonly #maxWaiting: number;
  #waitingCount = 0;
  #timer: NodeJS.Timeout | undefined;
  /** When the next round begins. */
  #timerAt = Infinity;
  #roundAt = Number.NEGATIVE_INFINITY;
  #isStopped = false;

  constructor(client: PostsClient, maxWaiting: number) {
    this.#client = client;
    this.#maxWaiting = maxWaiting;
  }

  async untilFinal(workspaceId: string, id: string, signal: AbortSignal): Promise<void> {
    if (this.#isStopped || signal.aborted) return;
    this.#makeRoom(workspaceId);
    const now = performance.now();
    const own = this.#watched.get(workspaceId) ?? { workspaceId, waits: new Set(), dueAt: now };
    this.#watched.set(workspaceId, own);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const refuse = () => reject(unavailable(undefined, RETRY_AFTER_MS));
    const wait = { id, end: resolve, refuse };
    own.waits.add(wait);
    this.#waitingCount += 1;
    signal.addEventListener("abort", () => resolve(), { once: true });
    this.#scheduleAt(own.dueAt);
    try {
      await promise;
    } finally {
      this.#remove(own, wait);
    }
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    for (const { waits } of this.#watched.values()) for (const { end } of waits) end();
  }

  /** @throws `unavailable` if the workspace itself has the most waits. */
  #makeRoom(workspaceId: string): void {
    if (this.#waitingCount < this.#maxWaiting) return;
    const all = [...this.#watched.values()];
    const most = all.reduce((one, other) => (other.waits.size > one.waits.size ? other : one));
    const own = this.#watched.get(workspaceId)?.waits.size ?? 0;
    const [oldest] = most.waits;
    if (oldest === undefined || own + 1 >= most.waits.size)
      throw unavailable(undefined, RETRY_AFTER_MS);
    oldest.refuse();
    this.#remove(most, oldest);
  }

  #remove(own: Watched, wait: Wait): void {
    if (!own.waits.delete(wait)) return;
    this.#waitingCount -= 1;
    if (own.waits.size === 0) this.#watched.delete(own.workspaceId);
  }

  /**
   * All posts together, or those of a workspace as often as if every workspace watched as many:
   * the workspaces have equal parts of the calls.
   */
  #intervalMs({ waits }: Watched): number {
    const posts = Math.min(this.#waitingCount, waits.size * this.#watched.size);
    return MIN_INTERVAL_MS + INTERVAL_PER_POST_MS * posts;
  }

  /** The workspaces share rounds, at most one in `MIN_INTERVAL_MS`. */
  #scheduleAt(dueAt = Infinity): void {
    const now = performance.now();
    const at = Math.max(this.#roundAt + MIN_INTERVAL_MS, dueAt, now);
    if (at >= this.#timerAt || this.#isStopped) return;
    clearTimeout(this.#timer);
    this.#timerAt = at;
    // A call serves the requests of many clients, so it has a request id of its own.
    this.#timer = setTimeout(
      () => runInContext({ requestId: newId() }, () => this.#beginRound()),
      at - now,
    );
  }

  /** The next round need not wait for this one: a workspace with many posts delays only its own. */
  #beginRound(): void {
    const now = performance.now();
    this.#roundAt = now;
    this.#timerAt = Infinity;
    const due: Watched[] = [];
    let nextAt = Infinity;
    for (const own of this.#watched.values()) {
      const { dueAt = Infinity } = own;
      // A timer may fire a part of a millisecond early.
      if (dueAt <= now + 1) due.push(own);
      else nextAt = Math.min(nextAt, dueAt);
    }
    for (const own of due) own.dueAt = undefined;
    if (due.length > 0) void this.#askFor(due);
    if (nextAt < Infinity) this.#scheduleAt(nextAt);
  }

  /** Those of workspaces with few posts come first. */
  async #askFor(due: readonly Watched[]): Promise<void> {
    const bySize = due.toSorted((one, other) => one.waits.size - other.waits.size);
    const refs = bySize.flatMap(({ workspaceId, waits }) =>
      [...new Set([...waits].map(({ id }) => id))].map((id) => ({ workspaceId, id })),
    );
    for (let start = 0; start < refs.length; start += MAX_REFS)
      await this.#ask(refs.slice(start, start + MAX_REFS));
    const now = performance.now();
    for (const own of due) {
      own.dueAt = now + this.#intervalMs(own);
      if (own.waits.size > 0) this.#scheduleAt(own.dueAt);
    }
  }

  /** After a failed call, the next call asks again. */
  async #ask(
    refs: readonly { readonly workspaceId: string; readonly id: string }[],
  ): Promise<void> {
    const answer = await this.#client
      .batchGetPostStatuses({ refs: [...refs] })
      .catch(() => undefined);
    if (answer === undefined) return;
    const toKey = (ref?: { readonly workspaceId: string; readonly id: string }) =>
      `${ref?.workspaceId}/${ref?.id}`;
    const open = new Set(
      answer.statuses.filter(({ status }) => !FINAL.has(status)).map(({ ref }) => toKey(ref)),
    );
    const ended = new Set(refs.map(toKey).filter((key) => !open.has(key)));
    for (const workspaceId of new Set(refs.map((ref) => ref.workspaceId)))
      for (const wait of this.#watched.get(workspaceId)?.waits ?? [])
        if (ended.has(toKey({ workspaceId, id: wait.id }))) wait.end();
  }
}

/** @param maxWaiting Requests that wait at a time. Only tests lower it. */
export function createPostWatcher(client: PostsClient, maxWaiting = MAX_WAITING): PostWatcher {
  return new PollingPostWatcher(client, maxWaiting);
}
