import type { Store, Table } from "#src/store/store.ts";
import type { Account } from "#src/world/accounts.ts";

/**
 * Binary search; the list's length when there is none. `test` must be true for every later item,
 * too.
 */
export function firstIndexWhere<T>(list: readonly T[], test: (item: T) => boolean): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const item = list[middle];
    if (item !== undefined && test(item)) high = middle;
    else low = middle + 1;
  }
  return low;
}

export interface PostedMedia {
  readonly kind: "image" | "gif" | "video";
  readonly sha256: string;
  readonly key?: string | undefined;
  readonly altText?: string | undefined;
  readonly coverMs?: number | undefined;
}

/** A post that readers see, or saw before it was deleted. */
export interface Post {
  readonly platform: string;
  readonly account: string;
  readonly id: string;
  readonly text: string;
  readonly media: readonly PostedMedia[];
  readonly createdAt: number;
  readonly deletedAt: number | null;
  /** Publishing calls to which the platform answered with this post, also repeated ones. */
  readonly createCalls: number;
  readonly replyTo?: string | undefined;
  readonly options?: Readonly<Record<string, unknown>> | undefined;
}

export interface PostFilter {
  readonly platform?: string | undefined;
  readonly account?: Account;
  readonly since?: number | undefined;
  readonly limit?: number | undefined;
}

const ALL_POSTS = "*";

/** Whether a post or another object of a platform exists at the instant. */
export function existsAt(
  { createdAt, deletedAt }: Pick<Post, "createdAt" | "deletedAt">,
  instant: number,
): boolean {
  return createdAt <= instant && (deletedAt === null || deletedAt > instant);
}

export class Posts {
  readonly #rows: Table<Post>;
  readonly #order = new Map<string, string[]>();

  constructor(store: Store) {
    this.#rows = store.table<Post>("posts");
    for (const post of [...this.#rows.values()].sort((a, b) => a.createdAt - b.createdAt))
      this.#index(post);
    store.onReset(() => this.#order.clear());
  }

  get(account: Pick<Account, "platform" | "externalId">, id: string): Post | undefined {
    return this.#rows.get(rowKey(account.platform, account.externalId, id));
  }

  add(made: Omit<Post, "deletedAt" | "createCalls">): Post {
    const post: Post = { ...made, deletedAt: null, createCalls: 1 };
    this.#rows.put(keyOf(post), post);
    this.#index(post);
    return post;
  }

  /** A post with a new creation time becomes the newest in all lists. */
  change(post: Post, part: Partial<Post>): Post {
    const changed = { ...post, ...part };
    this.#rows.put(keyOf(post), changed);
    if (changed.createdAt !== post.createdAt) {
      this.#unindex(post);
      this.#index(changed);
    }
    return changed;
  }

  /** Counts a further publishing call to which the platform answered with the post. */
  countCall(post: Post): Post {
    return this.change(post, { createCalls: post.createCalls + 1 });
  }

  visible(filter: PostFilter, now: number): Post[] {
    const keys = this.#keys(filter);
    const since = filter.since ?? 0;
    const limit = filter.limit ?? Number.POSITIVE_INFINITY;
    const found: Post[] = [];
    const first = firstIndexWhere(keys, (key) => (this.#rows.get(key)?.createdAt ?? 0) >= since);
    for (let index = first; index < keys.length && found.length < limit; index += 1) {
      const post = this.#rows.get(keys[index] ?? "");
      if (post !== undefined && existsAt(post, now)) found.push(post);
    }
    return found;
  }

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
