/** A part that the contract promises; the transport cannot tell that it is there. */
export function required<T>(part: T | undefined): T {
  if (part === undefined) throw new Error("the service's answer is not complete");
  return part;
}
