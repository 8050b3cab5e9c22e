/**
 * What we keep as the external id: the message's id, and of an album the ids of all its messages with commas between them,
 * because deleting needs each of them and nothing says that they follow each other.
 */
export function toExternalId(messageIds: readonly number[]): string {
  return messageIds.join(",");
}

/** The ids of all messages that an external id stands for. */
export function toMessageIds(externalId: string): readonly number[] {
  return externalId.split(",").map(Number);
}
