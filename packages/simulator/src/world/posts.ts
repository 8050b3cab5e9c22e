import type { Store } from "#src/store/store.ts";
import type { Table } from "#src/store/table.ts";
import type { Account } from "#src/world/accounts.ts";
import { firstIndexWhere } from "#src/world/search.ts";

export interface PostedMedia {
  readonly kind: "image" | "gif" | "video";
  /** SHA-256 of the media file as it arrived, in hexadecimal digits. */
  readonly sha256: string;
  /** The platform's own id of the media file; absent on platforms that show no such id. */
  readonly key?: string;
  /** Alternative text of the file; absent when the client sent none. */
  readonly altText?: string;
  /**
   * Position in the video, in milliseconds, of the frame that becomes the cover image; absent when the client chose
   * none.
   */
  readonly coverMs?: number;
}

/**
 * A post that readers of a simulated platform can see, or could see before the post was deleted.
 */
export interface Post {
  readonly platform: string;
  /** External id of the account on the simulated platform that published the post. */
  readonly account: string;
  /** The post's id on the platform, which Postrider stores as `externalId`. */
  readonly id: string;
  /** The text of the post as the publishing client sent it. */
  readonly text: string;
  readonly media: readonly PostedMedia[];
  /** When the post became visible, in Unix milliseconds of the simulator's clock. */
  readonly createdAt: number;
  readonly deletedAt: number | null;
  /**
   * Number of publishing calls to which the platform answered with this post. A repeated call that
   * creates no new post counts too.
   */
  readonly createCalls: number;
  /** Id of the post to which this post replies; absent when the post is not a reply. */
  readonly replyTo?: string;
  /** The options that the publishing client chose for the post, under the platform's own names; absent when it chose none. */
  readonly options?: Readonly<Record<string, unknown>>;
}

export interface PostFilter {
  readonly platform?: string;
  readonly account?: Account;
  /**
   * Selects only posts that were created at this time or later; in Unix milliseconds of the
   * simulator's clock.
   */
  readonly since?: number;
  readonly limit?: number;
}

const ALL_POSTS = "*";

/** Whether readers of the simulated platform see the post at the given instant. */
export function isVisibleAt(post: Post, instant: number): boolean {
  return post.createdAt <= instant && (post.deletedAt === null || post.deletedAt > instant);
}

/**
 * The posts of all simulated platforms, with lists in order of creation: of all posts, per platform
 * and per account.
 */
export class Posts {
  readonly #rows: Table<Post>;
  readonly #order = new Map<string, string[]>();

  constructor(store: Store) {
    this.#rows = store.table<Post>("posts");
    for (const post of [...this.#rows.values()].sort((a, b) => a.createdAt - b.createdAt))
      this.#index(post);

    store.onReset(() => this.#order.clear());
  }

  /** Returns a post on a simulated platform, even when the post is deleted. */
  get(account: Pick<Account, "platform" | "externalId">, id: string): Post | undefined {
    return this.#rows.get(rowKey(account.platform, account.externalId, id));
  }

  add(post: Post): Post {
    this.#rows.put(keyOf(post), post);
    this.#index(post);
    return post;
  }

  /**
   * Replaces properties of a post on a simulated platform. A post with a new creation time becomes
   * the newest post in all lists of posts.
   */
  change(post: Post, part: Partial<Post>): Post {
    const changed = { ...post, ...part };
    this.#rows.put(keyOf(post), changed);
    if (changed.createdAt !== post.createdAt) {
      this.#unindex(post);
      this.#index(changed);
    }
    return changed;
  }

  /**
   * The posts that match the filter and that readers of the simulated platforms see now, oldest
   * first.
   */
  visible(filter: PostFilter, now: number): Post[] {
    const keys = this.#keys(filter);
    const since = filter.since ?? 0;
    const limit = filter.limit ?? Number.POSITIVE_INFINITY;
    const found: Post[] = [];
    const first = firstIndexWhere(keys, (key) => (this.#rows.get(key)?.createdAt ?? 0) >= since);
    for (let index = first; index < keys.length && found.length < limit; index += 1) {
      const post = this.#rows.get(keys[index] ?? "");
      if (post !== undefined && isVisibleAt(post, now)) found.push(post);
    }
    return found;
  }

  /** Every post of a simulated account, newest first, including deleted posts. */
  *newestFirst(account: Account): Generator<Post> {
    const keys = this.#keys({ account });
    for (let index = keys.length - 1; index >= 0; index -= 1) {
      const post = this.#rows.get(keys[index] ?? "");
      if (post !== undefined) yield post;
    }
  }

  all(): IteratorObject<Post> {
    return this.#rows.values();
  }

  #keys(filter: PostFilter): readonly string[] {
    if (filter.account !== undefined)
      return this.#order.get(accountKey(filter.account.platform, filter.account.externalId)) ?? [];

    return this.#order.get(filter.platform ?? ALL_POSTS) ?? [];
  }

  #index(post: Post): void {
    for (const list of listsOf(post)) {
      const keys = this.#order.get(list) ?? [];
      this.#order.set(list, keys);
      keys.push(keyOf(post));
    }
  }

  #unindex(post: Post): void {
    for (const list of listsOf(post)) {
      const keys = this.#order.get(list) ?? [];
      keys.splice(keys.lastIndexOf(keyOf(post)), 1);
    }
  }
}

function listsOf(post: Post): readonly string[] {
  return [ALL_POSTS, post.platform, accountKey(post.platform, post.account)];
}

function accountKey(platform: string, externalId: string): string {
  return `${platform}:${externalId}`;
}

function keyOf(post: Post): string {
  return rowKey(post.platform, post.account, post.id);
}

function rowKey(platform: string, account: string, id: string): string {
  return `${platform}:${account}:${id}`;
}
