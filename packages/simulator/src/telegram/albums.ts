import type { Store, Table } from "#src/store/store.ts";
import type { Account } from "#src/world/accounts.ts";
import type { PostedMedia } from "#src/world/posts.ts";

interface AlbumMessage {
  readonly ids: readonly number[];
  readonly text: string;
  readonly media: PostedMedia;
  readonly isDeleted: boolean;
}

export interface AlbumRest {
  readonly id: string;
  readonly text: string;
  readonly media: readonly PostedMedia[];
}

/** Readers see an album as one post, but each of its messages can be deleted separately. */
export class Albums {
  readonly #messages: Table<AlbumMessage>;

  constructor(store: Store) {
    this.#messages = store.table<AlbumMessage>("telegram.album_messages");
  }

  add(chat: Account, parts: readonly Pick<AlbumMessage, "text" | "media">[], first: number): void {
    const ids = parts.map((_part, index) => first + index);
    for (const [index, part] of parts.entries())
      this.#messages.put(keyOf(chat, first + index), { ...part, ids, isDeleted: false });
  }

  has(chat: Account, messageId: number): boolean {
    return this.#messages.get(keyOf(chat, messageId))?.isDeleted === false;
  }

  delete(chat: Account, messageId: number): AlbumRest | undefined {
    const message = this.#messages.get(keyOf(chat, messageId));
    if (message === undefined) return undefined;
    this.#messages.put(keyOf(chat, messageId), { ...message, isDeleted: true });
    const left = message.ids.flatMap((id) => {
      const one = this.#messages.get(keyOf(chat, id));
      return one === undefined || one.isDeleted ? [] : [one];
    });
    return {
      id: albumId(message.ids),
      text: left.map(({ text }) => text).find((text) => text !== "") ?? "",
      media: left.map(({ media }) => media),
    };
  }
}

export function albumId(messageIds: readonly number[]): string {
  return messageIds.join(",");
}

function keyOf(chat: Account, messageId: number): string {
  return `${chat.externalId}:${messageId}`;
}
