/**
 * Divides the requests that one workspace was granted among its admission queries in a batch. Each query first gets the
 * requests that it wants, in the order of the batch. The remaining requests are granted in advance and shared evenly
 * among the queries that want at least one request.
 *
 * @returns One number per element of `wants`; their sum is `granted` unless every element is 0.
 */
export function shareGrant(granted: number, wants: readonly number[]): readonly number[] {
  let left = granted;
  const shares = wants.map((want) => {
    const share = Math.min(want, left);
    left -= share;
    return share;
  });
  let queriesLeft = wants.filter((want) => want > 0).length;
  return shares.map((share, index) => {
    if (wants[index] === 0) return share;
    const extra = Math.ceil(left / queriesLeft);
    left -= extra;
    queriesLeft -= 1;
    return share + extra;
  });
}

/**
 * Returns the milliseconds until a workspace's token bucket allows one more request.
 *
 * @param tokens Number of requests that the token bucket still allows, including fractions.
 */
export function emptyForMs(tokens: number, requestsPerMinute: number): number {
  return tokens >= 1 ? 0 : Math.ceil(((1 - tokens) * 60_000) / requestsPerMinute);
}
