/** A Telegram chat, and the topic of it to which messages are sent. */
export interface ChatAddress {
  /** Id of the Telegram chat, such as `-1001234567890` or `@username`. */
  readonly chatId: string;
  /** Id of the topic in the Telegram chat; undefined for the chat itself. */
  readonly topicId: number | undefined;
}

const WITH_TOPIC = /^(.+)\/(\d{1,10})$/;

/**
 * Reads the address of a Telegram chat as an owner enters it and as the external id of an account stores it: the chat,
 * followed by `/` and the id of a topic if messages go to a topic.
 */
export function parseChatAddress(text: string): ChatAddress {
  const [, chatId, topicId] = WITH_TOPIC.exec(text) ?? [];
  if (chatId === undefined) return { chatId: text, topicId: undefined };
  return { chatId, topicId: Number(topicId) };
}

export function formatChatAddress({ chatId, topicId }: ChatAddress): string {
  return topicId === undefined ? chatId : `${chatId}/${topicId}`;
}

/** The parameters of the Bot API that name the chat, and the topic if there is one. */
export function toChatFields(externalId: string): Readonly<Record<string, string | number>> {
  const { chatId, topicId } = parseChatAddress(externalId);
  return topicId === undefined
    ? { chat_id: chatId }
    : { chat_id: chatId, message_thread_id: topicId };
}
