export interface ChatAddress {
  readonly chatId: string;
  readonly topicId: number | undefined;
}

const WITH_TOPIC = /^(.+)\/(\d{1,10})$/;

/** The chat, followed by `/` and the id of a topic if messages go to a topic. */
export function parseChatAddress(text: string): ChatAddress {
  const [, chatId, topicId] = WITH_TOPIC.exec(text) ?? [];
  if (chatId === undefined) return { chatId: text, topicId: undefined };
  return { chatId, topicId: Number(topicId) };
}

export function formatChatAddress({ chatId, topicId }: ChatAddress): string {
  return topicId === undefined ? chatId : `${chatId}/${topicId}`;
}

export function toChatFields(externalId: string): Readonly<Record<string, string | number>> {
  const { chatId, topicId } = parseChatAddress(externalId);
  return topicId === undefined
    ? { chat_id: chatId }
    : { chat_id: chatId, message_thread_id: topicId };
}
