import type { Store } from "#src/store/store.ts";
import type { Table } from "#src/store/table.ts";
import type { Comment, Reactions } from "#src/world/reactions.ts";

export type ModerationStatus = "published" | "heldForReview" | "rejected" | "likelySpam";

export interface ChannelReply {
  readonly id: string;
  readonly channel: string;
  readonly parentId: string;
  readonly videoId: string;
  readonly text: string;
  readonly createdAt: number;
}

export class Discussion {
  readonly #reactions: Reactions;
  readonly #replies: Table<ChannelReply>;
  readonly #moderation: Table<ModerationStatus | "deleted">;

  constructor(store: Store, reactions: Reactions) {
    this.#reactions = reactions;
    this.#replies = store.table<ChannelReply>("youtube.replies");
    this.#moderation = store.table<ModerationStatus | "deleted">("youtube.moderation");
  }

  comment(id: string): Comment | undefined {
    return this.#moderation.get(id) === "deleted"
      ? undefined
      : this.#reactions.comment("youtube", id);
  }

  commentsOn(videoId: string): Comment[] {
    return this.#reactions
      .commentsOn("youtube", videoId)
      .filter(({ id }) => this.#moderation.get(id) !== "deleted")
      .toSorted((one, other) => other.createdAt - one.createdAt);
  }

  statusOf(id: string): ModerationStatus {
    const status = this.#moderation.get(id);
    return status === undefined || status === "deleted" ? "published" : status;
  }

  moderate(id: string, status: ModerationStatus): void {
    this.#moderation.put(id, status);
  }

  delete(id: string): boolean {
    if (this.#replies.delete(id)) return true;

    const exists = this.comment(id) !== undefined;
    if (exists) this.#moderation.put(id, "deleted");

    return exists;
  }

  reply(id: string): ChannelReply | undefined {
    return this.#replies.get(id);
  }

  addReply(reply: ChannelReply): ChannelReply {
    this.#replies.put(reply.id, reply);
    return reply;
  }

  repliesTo(parentId: string): ChannelReply[] {
    return [...this.#replies.values()].filter((reply) => reply.parentId === parentId);
  }
}
