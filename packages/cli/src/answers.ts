/** Returns a part of an answer that its contract promises; its generated type cannot say that it is always set. */
export function required<T>(part: T | undefined): T {
  if (part === undefined)
    throw new Error(
      "the answer of the service lacks a part; check that the tool and the services have the same version",
    );
  return part;
}
