/**
 * Shares what one workspace was granted among the requests that asked together. The asking come first, in their order;
 * what is left over is prepaid and goes round evenly, to those that asked for something.
 *
 * @returns As many numbers as `wants`; their sum is `granted` unless nobody wants anything.
 */
export function shareGrant(granted: number, wants: readonly number[]): readonly number[] {
  let left = granted;
  const shares = wants.map((want) => {
    const share = Math.min(want, left);
    left -= share;
    return share;
  });
  let askers = wants.filter((want) => want > 0).length;
  return shares.map((share, index) => {
    if (wants[index] === 0) return share;
    const extra = Math.ceil(left / askers);
    left -= extra;
    askers -= 1;
    return share + extra;
  });
}

/**
 * Milliseconds until one more request is there.
 *
 * @param tokens What is left in the bucket, fractions included.
 */
export function emptyForMs(tokens: number, requestsPerMinute: number): number {
  return tokens >= 1 ? 0 : Math.ceil(((1 - tokens) * 60_000) / requestsPerMinute);
}
