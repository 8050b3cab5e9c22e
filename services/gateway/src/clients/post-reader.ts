import type { Client } from "@connectrpc/connect";
import type { Post } from "@postrider/contracts/posts/v1/post_pb";
import type { PostService } from "@postrider/contracts/posts/v1/post_service_pb";
import type { Locale } from "@postrider/rest/locale";
import { ServiceError, notFound } from "@postrider/shared/errors";
import { newId } from "@postrider/shared/ids";
import { addCount } from "@postrider/shared/limits/add-count";
import {
  findContext,
  type RequestContext,
  runInContext,
  shareContext,
} from "@postrider/shared/telemetry/request-context";

export interface PostReader {
  /** @throws ServiceError `not_found`, also for posts of other workspaces. */
  get(workspaceId: string, id: string, locale: Locale): Promise<Post>;
}

type PostsClient = Pick<Client<typeof PostService>, "batchGetPosts">;

interface Waiting {
  readonly workspaceId: string;
  readonly id: string;
  readonly locale: Locale;
  readonly context: RequestContext | undefined;
  readonly resolve: (post: Post) => void;
  readonly reject: (error: unknown) => void;
}

const MAX_REFS = 100;
const MAX_BYTES = 2 * 1024 * 1024;
/** Further reads wait. With `MAX_BYTES`, this bounds the memory of the answers. */
const MAX_CALLS = 8;
const MAX_CALLS_PER_WORKSPACE = MAX_CALLS / 2;

/**
 * A call costs more than its SQL statement. A read that is alone is not delayed. Workspaces take
 * turns: many reads of large posts of one, whose answers are full, delay no read of another.
 */
class BatchingPostReader implements PostReader {
  readonly #client: PostsClient;
  #waiting: Waiting[] = [];
  #callsInFlight = 0;
  readonly #callsOf = new Map<string, number>();
  /**
   * How many reads of a workspace are asked for at once: as many as fitted into an answer that left
   * some out, and two more after each that did not.
   */
  readonly #fitting = new Map<string, number>();
  #isScheduled = false;

  constructor(client: PostsClient) {
    this.#client = client;
  }

  get(workspaceId: string, id: string, locale: Locale): Promise<Post> {
    const { promise, resolve, reject } = Promise.withResolvers<Post>();
    this.#waiting.push({ workspaceId, id, locale, context: findContext(), resolve, reject });
    if (this.#waiting.length >= MAX_REFS) this.#flush();
    else this.#schedule();
    return promise;
  }

  /** Reads of the same turn of the event loop share a call. */
  #schedule(): void {
    if (this.#isScheduled || this.#waiting.length === 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#flush();
    });
  }

  #flush(): void {
    while (this.#waiting.length > 0 && this.#callsInFlight < MAX_CALLS) {
      const batch = this.#take();
      if (batch.length === 0) return;
      const workspaces = new Set(batch.map(({ workspaceId }) => workspaceId));
      this.#callsInFlight += 1;
      this.#countCall(workspaces, 1);
      const context = shareContext(batch.map((read) => read.context)) ?? { requestId: newId() };
      void runInContext(context, () => this.#read(batch)).finally(() => {
        this.#callsInFlight -= 1;
        this.#countCall(workspaces, -1);
        this.#schedule();
      });
    }
  }

  #countCall(workspaces: ReadonlySet<string>, change: 1 | -1): void {
    for (const id of workspaces) addCount(this.#callsOf, id, change);
  }

  /** The texts of an answer about errors are in one language. */
  #take(): readonly Waiting[] {
    const allowed = this.#waiting.filter(
      ({ workspaceId }) => (this.#callsOf.get(workspaceId) ?? 0) < MAX_CALLS_PER_WORKSPACE,
    );
    const reads = allowed.filter(({ locale }) => locale === allowed[0]?.locale);
    const byWorkspace = Map.groupBy(reads, ({ workspaceId }) => workspaceId);
    const turns = [...byWorkspace.values()].flatMap((own) => {
      const limit = this.#fitting.get(own[0]?.workspaceId ?? "") ?? MAX_REFS;
      return own.slice(0, limit).map((read, turn) => ({ read, turn }));
    });
    const inTurn = turns.toSorted((a, b) => a.turn - b.turn).slice(0, MAX_REFS);
    const taken = new Set(inTurn.map(({ read }) => read));
    this.#waiting = this.#waiting.filter((read) => !taken.has(read));
    return [...taken];
  }

  /** What posts refuses is asked for again in halves: a post that cannot be read fails alone. */
  async #read(batch: readonly Waiting[]): Promise<void> {
    try {
      const refs = batch.map(({ workspaceId, id }) => ({ workspaceId, id }));
      const locale = batch[0]?.locale ?? "";
      const answer = await this.#client.batchGetPosts({ refs, maxBytes: MAX_BYTES, locale });
      const { posts, deferredFrom = batch.length } = answer;
      const found = new Map(posts.map((post) => [`${post.workspaceId}/${post.id}`, post]));
      for (const { workspaceId, id, resolve, reject } of batch.slice(0, deferredFrom)) {
        const post = found.get(`${workspaceId}/${id}`);
        if (post === undefined) reject(notFound());
        else resolve(post);
      }
      this.#defer(batch, deferredFrom);
    } catch (error) {
      if (batch.length > 1 && isInternal(error)) {
        const middle = Math.ceil(batch.length / 2);
        await this.#read(batch.slice(0, middle));
        await this.#read(batch.slice(middle));
        return;
      }
      for (const { reject } of batch) reject(error);
    }
  }

  #defer(batch: readonly Waiting[], from: number): void {
    const deferred = batch.slice(from);
    const isFull = deferred.length > 0;
    for (const workspaceId of new Set(
      (isFull ? deferred : batch).map((read) => read.workspaceId),
    )) {
      const fitted = batch.slice(0, from).filter((each) => each.workspaceId === workspaceId).length;
      const limit = isFull ? fitted : (this.#fitting.get(workspaceId) ?? MAX_REFS) + 2;
      if (limit < MAX_REFS) this.#fitting.set(workspaceId, Math.max(1, limit));
      else this.#fitting.delete(workspaceId);
    }
    this.#waiting.unshift(...deferred);
  }
}

export function createPostReader(client: PostsClient): PostReader {
  return new BatchingPostReader(client);
}

/** Only of a fault in a row. What posts refuses as a whole it would refuse in parts, too. */
function isInternal(error: unknown): boolean {
  return error instanceof ServiceError && error.kind === "internal";
}
