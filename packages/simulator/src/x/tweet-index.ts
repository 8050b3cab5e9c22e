import type { Store } from "#src/store/store.ts";
import type { Account, Accounts } from "#src/world/accounts.ts";
import type { Post, Posts } from "#src/world/posts.ts";

/**
 * How long the simulated X refuses a tweet with the content of an earlier tweet. X does not
 * document this time. A day is longer than any client repeats a failed call.
 */
const DUPLICATE_WINDOW_MS = 86_400_000;

type Content = Pick<Post, "text" | "media" | "replyTo">;

export class TweetIndex {
  readonly #posts: Posts;
  readonly #accounts: Accounts;
  readonly #authors = new Map<string, string>();
  readonly #latestOfContent = new Map<string, string>();

  constructor(posts: Posts, accounts: Accounts, store: Store) {
    this.#posts = posts;
    this.#accounts = accounts;
    for (const post of posts.all()) if (post.platform === "x") this.remember(post);
    store.onReset(() => {
      this.#authors.clear();
      this.#latestOfContent.clear();
    });
  }

  remember(post: Post): void {
    this.#authors.set(post.id, post.account);
    this.#latestOfContent.set(contentKey(post.account, post), post.id);
  }

  find(id: string): Post | undefined {
    const author = this.#accounts.byId("x", this.#authors.get(id) ?? "");
    return author === undefined ? undefined : this.#posts.get(author, id);
  }

  hasDuplicate(account: Account, content: Content, now: number): boolean {
    const id = this.#latestOfContent.get(contentKey(account.externalId, content));
    const post = id === undefined ? undefined : this.#posts.get(account, id);
    return (
      post !== undefined && post.deletedAt === null && now - post.createdAt < DUPLICATE_WINDOW_MS
    );
  }
}

function contentKey(account: string, content: Content): string {
  const media = content.media.map((item) => item.sha256).join(",");
  return [account, content.replyTo ?? "", media, content.text.normalize("NFC").trim()].join("\n");
}
