/** As many posts of an account are offered. */
export const NEWEST = 20;
/** In a workspace with many accounts the posts of one may be far back. */
const MAX_LOOKED_AT = 500;

interface OnAccounts {
  readonly targets: readonly { readonly accountId: string }[];
}

/** The first posts that are on an account; a page of posts is read only if it is needed. */
export async function newestOn<T extends OnAccounts>(
  posts: AsyncIterable<T>,
  accountId: string,
): Promise<readonly T[]> {
  const found: T[] = [];
  let count = 0;
  for await (const post of posts) {
    if (post.targets.some((target) => target.accountId === accountId)) found.push(post);
    count += 1;
    if (found.length === NEWEST || count === MAX_LOOKED_AT) break;
  }
  return found;
}
