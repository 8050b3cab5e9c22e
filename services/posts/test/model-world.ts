import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  DeletionUpdatedSchema,
  TargetUpdatedSchema,
} from "@postrider/contracts/delivery/v1/delivery_events_pb";
import { ServiceError } from "@postrider/shared/errors";
import type { PostStatus } from "#src/domain/post-status.ts";
import { newWorkspace, type Posts } from "./fixture.ts";
import { ModelDelivery } from "./model-delivery.ts";
import {
  Model,
  type DeletionUpdate,
  type ModelPost,
  type ModelTarget,
  type TaskUpdate,
} from "./model.ts";

export const MONTHLY_QUOTA = 40;
export const HOUR_MS = 3_600_000;
const PUBLISHED_AT = timestampFromDate(new Date());

/** During a random step, from the posts service to the delivery service. */
export interface Asked {
  /** `id generation`; the deletions are `id deletion`. */
  readonly publish: readonly string[];
  readonly remove: readonly string[];
}

export const NOTHING_ASKED: Asked = { publish: [], remove: [] };

export function asksToPublish(targets: readonly ModelTarget[]): Asked {
  return { publish: targets.map(({ id, generation }) => `${id} ${generation}`), remove: [] };
}

/** A workspace, its reference model, and the messages to and from the delivery service. */
export class World {
  readonly posts: Posts;
  readonly random: () => number;
  readonly model = new Model();
  readonly delivery = new ModelDelivery();
  readonly workspaceId = newWorkspace();
  readonly accounts: readonly string[];
  /** With the posts that were created with them. */
  readonly keys = new Map<string, string>();
  /** In the form of `Asked`, not received yet. */
  inbox: readonly string[] = [];
  /** Not received yet, or received and to be repeated. */
  wire: readonly TaskUpdate[] = [];
  deletionWire: readonly DeletionUpdate[] = [];
  /** By an older publish request while a newer one was in progress. */
  lateSuccesses = 0;

  constructor(posts: Posts, random: () => number) {
    this.posts = posts;
    this.random = random;
    const { limits } = posts.peers;
    limits.set(this.workspaceId, { monthlyQuota: MONTHLY_QUOTA, dailyQuota: 10_000 });
    this.accounts = ["x", "telegram", "bluesky", "x"].map((platform) =>
      posts.peers.connectAccount(this.workspaceId, platform),
    );
  }

  pick<T>(items: readonly T[]): T {
    const item = items[Math.floor(this.random() * items.length)];
    if (item === undefined) throw new Error("nothing to pick from");
    return item;
  }

  isLikely(share: number): boolean {
    return this.random() < share;
  }

  /** Mostly one with a status of `meant`, in which the next request is allowed. */
  pickPost(meant: readonly PostStatus[] = []): ModelPost | undefined {
    const all = [...this.model.posts.values()];
    const fitting = all.filter(({ status }) => meant.includes(status));
    const posts = fitting.length > 0 && this.isLikely(0.8) ? fitting : all;
    return posts.length === 0 ? undefined : this.pick(posts);
  }

  /** Undefined when the request succeeds. */
  async reasonOf(run: () => Promise<unknown>): Promise<string | undefined> {
    try {
      await run();
      return undefined;
    } catch (error) {
      return error instanceof ServiceError ? error.reason : String(error);
    }
  }

  /** The fake that the posts service calls gets the state of the model's delivery service. */
  show({ id, generation }: ModelTarget, update: TaskUpdate | undefined): void {
    const { tasks, calling, closed } = this.posts.peers;
    if (update === undefined) tasks.delete(id);
    else tasks.set(id, this.#toUpdate(update));
    if (this.delivery.isCalling(id, generation)) calling.add(id);
    else calling.delete(id);
    if (this.delivery.isClosed(id, generation)) closed.add(`${id} ${generation}`);
  }

  showDeletion(targetId: string, update: DeletionUpdate | undefined): void {
    const { deletions } = this.posts.peers;
    if (update === undefined) deletions.delete(targetId);
    else deletions.set(targetId, this.#toDeletion(update));
  }

  /** Returns the deletions that the posts service must request because of the reports. */
  async report(updates: readonly TaskUpdate[]): Promise<Asked> {
    return await this.askedToRemove(async () => {
      await this.posts.report(updates.map((item) => this.#toUpdate(item)));
      for (const item of updates) this.model.applyUpdate(item);
    });
  }

  async reportDeletions(updates: readonly DeletionUpdate[]): Promise<void> {
    await this.posts.reportDeletions(updates.map((item) => this.#toDeletion(item)));
    for (const item of updates) this.model.applyDeletion(item);
  }

  /** The deletions that the reference model requests during the action. */
  async askedToRemove(happens: () => void | Promise<void>): Promise<Asked> {
    const before = new Map(this.model.targets().map(({ id, deletion }) => [id, deletion]));
    await happens();
    const remove = this.model
      .targets()
      .filter(({ id, deletion }) => deletion > (before.get(id) ?? 0))
      .map(({ id, deletion }) => `${id} ${deletion}`);
    return { publish: [], remove };
  }

  #postOf(targetId: string): string {
    return this.model.target(targetId)?.post.id ?? newWorkspace();
  }

  #toUpdate({ targetId, generation, version, status, externalId, error }: TaskUpdate) {
    return create(TargetUpdatedSchema, {
      workspaceId: this.workspaceId,
      targetId,
      generation,
      version: BigInt(version),
      status,
      postId: this.#postOf(targetId),
      ...(externalId === null ? {} : { externalId, publishedAt: PUBLISHED_AT }),
      ...(error === null ? {} : { errorCode: error }),
    });
  }

  #toDeletion({ targetId, deletion, version, status }: DeletionUpdate) {
    return create(DeletionUpdatedSchema, {
      workspaceId: this.workspaceId,
      postId: this.#postOf(targetId),
      targetId,
      deletion,
      version: BigInt(version),
      status,
    });
  }
}
