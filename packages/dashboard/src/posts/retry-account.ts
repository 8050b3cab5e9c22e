import type { AccountRetryJson } from "@postrider/rest/dashboard/accounts";

interface Retried {
  readonly retried: number;
  /** Posts that were left as they are. */
  readonly refused: number;
}

/** Retries all failures of an account: a request goes on behind the last post of the one before. */
export async function retryAll(
  request: (after?: string) => Promise<AccountRetryJson>,
): Promise<Retried> {
  const sum = { retried: 0, refused: 0 };
  for (let after: string | undefined; ;) {
    const answer = await request(after);
    sum.retried += answer.retried;
    sum.refused += answer.refused.length;
    if (answer.nextAfter === null) return sum;
    after = answer.nextAfter;
  }
}
