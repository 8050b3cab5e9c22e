import type { AccountRetryJson } from "@postrider/rest/dashboard/accounts";

interface Retried {
  readonly retried: number;
  /** Posts that were left as they are. */
  readonly refused: number;
}

/**
 * Retries all failures of an account. One request retries at most 50 posts; further ones follow
 * until none is left, or until one retries nothing: the next would get the same refusals again.
 */
export async function retryAll(request: () => Promise<AccountRetryJson>): Promise<Retried> {
  const refused = new Set<string>();
  for (let retried = 0; ;) {
    const answer = await request();
    retried += answer.retried;
    for (const { postId } of answer.refused) refused.add(postId);
    if (!answer.isMore || answer.retried === 0) return { retried, refused: refused.size };
  }
}
