/**
 * The ids of all messages of an album, separated by commas: every id is needed to delete it, and
 * they need not be consecutive.
 */
export function toExternalId(messageIds: readonly number[]): string {
  return messageIds.join(",");
}

export function toMessageIds(externalId: string): readonly number[] {
  return externalId.split(",").map(Number);
}
