import type { Store } from "#src/store/store.ts";
import type { Account } from "#src/world/accounts.ts";
import type { Post, Posts } from "#src/world/posts.ts";

/** X does not document its window; a day is long enough for every retry of a publisher. */
const WINDOW_MS = 86_400_000;

/** Finds a tweet of the same account with the same content that is young and not deleted. */
export class Duplicates {
  readonly #posts: Posts;
  readonly #latest = new Map<string, string>();

  constructor(posts: Posts, store: Store) {
    this.#posts = posts;
    for (const post of posts.all()) {
      if (post.platform === "x") {
        this.remember(post);
      }
    }
    store.onReset(() => this.#latest.clear());
  }

  remember(post: Post): void {
    this.#latest.set(contentKey(post.account, post), post.id);
  }

  has(account: Account, content: Pick<Post, "text" | "media" | "replyTo">, now: number): boolean {
    const id = this.#latest.get(contentKey(account.externalId, content));
    const post = id === undefined ? undefined : this.#posts.get(account, id);
    return post !== undefined && post.deletedAt === null && now - post.createdAt < WINDOW_MS;
  }
}

function contentKey(account: string, content: Pick<Post, "text" | "media" | "replyTo">): string {
  const media = content.media.map((item) => item.sha256).join(",");
  return [account, content.replyTo ?? "", media, content.text.normalize("NFC").trim()].join("\n");
}
