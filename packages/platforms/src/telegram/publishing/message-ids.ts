/**
 * Returns the external id of a Telegram post: the id of its message, or the ids of all messages of an album, separated
 * by commas. Every id is needed to delete the album, and the ids need not be consecutive.
 */
export function toExternalId(messageIds: readonly number[]): string {
  return messageIds.join(",");
}

/** Returns the message ids in the external id of a Telegram post. */
export function toMessageIds(externalId: string): readonly number[] {
  return externalId.split(",").map(Number);
}
