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
import { Model, type DeletionNews, type ModelPost, type ModelTarget, type News } from "./model.ts";

export const MONTHLY_QUOTA = 40;
export const HOUR_MS = 3_600_000;
const PUBLISHED_AT = timestampFromDate(new Date());

/** What a step is to have asked of delivery. */
export interface Asked {
  /** `target generation` of what is to be published, `target deletion` of what is to be deleted. */
  readonly publish: readonly string[];
  readonly remove: readonly string[];
}

export const NOTHING_ASKED: Asked = { publish: [], remove: [] };

export function asksToPublish(targets: readonly ModelTarget[]): Asked {
  return { publish: targets.map(({ id, generation }) => `${id} ${generation}`), remove: [] };
}

/** One workspace of the service, the model of it, and what is on its way between the service and delivery. */
export class World {
  readonly posts: Posts;
  readonly random: () => number;
  readonly model = new Model();
  readonly delivery = new ModelDelivery();
  readonly workspaceId = newWorkspace();
  readonly accounts: readonly string[];
  /** Idempotency keys, and the posts that they made. */
  readonly keys = new Map<string, string>();
  /** Requests that delivery has not taken yet, as in `Asked`. */
  inbox: readonly string[] = [];
  /** News that posts has not heard yet, or may hear again. */
  wire: readonly News[] = [];
  deletionWire: readonly DeletionNews[] = [];
  /** How often an older generation has succeeded while a newer one was under way. */
  lateSuccesses = 0;

  constructor(posts: Posts, random: () => number) {
    this.posts = posts;
    this.random = random;
    const { limits } = posts.neighbours;
    limits.set(this.workspaceId, { monthlyQuota: MONTHLY_QUOTA, dailyQuota: 10_000 });
    this.accounts = ["x", "telegram", "bluesky", "x"].map((platform) =>
      posts.neighbours.connectAccount(this.workspaceId, platform),
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

  /** Mostly one with a status for which the command is meant. */
  pickPost(meant: readonly PostStatus[] = []): ModelPost | undefined {
    const all = [...this.model.posts.values()];
    const fitting = all.filter(({ status }) => meant.includes(status));
    const posts = fitting.length > 0 && this.isLikely(0.8) ? fitting : all;
    return posts.length === 0 ? undefined : this.pick(posts);
  }

  /** Why the service refuses something; undefined when it does not. */
  async reasonOf(run: () => Promise<unknown>): Promise<string | undefined> {
    try {
      await run();
      return undefined;
    } catch (error) {
      return error instanceof ServiceError ? error.reason : String(error);
    }
  }

  /** Tells the neighbours what delivery knows of a target. */
  show({ id, generation }: ModelTarget, news: News | undefined): void {
    const { tasks, calling, closed } = this.posts.neighbours;
    if (news === undefined) tasks.delete(id);
    else tasks.set(id, this.#toUpdate(news));
    if (this.delivery.isCalling(id, generation)) calling.add(id);
    else calling.delete(id);
    if (this.delivery.isClosed(id, generation)) closed.add(`${id} ${generation}`);
  }

  showDeletion(targetId: string, news: DeletionNews | undefined): void {
    const { deletions } = this.posts.neighbours;
    if (news === undefined) deletions.delete(targetId);
    else deletions.set(targetId, this.#toDeletion(news));
  }

  /** The service and the model hear the same news in the same order; returns which deletions that is to lead to. */
  async tell(news: readonly News[]): Promise<Asked> {
    return await this.askedToRemove(async () => {
      await this.posts.tell(news.map((item) => this.#toUpdate(item)));
      for (const item of news) this.model.tell(item);
    });
  }

  async tellDeletions(news: readonly DeletionNews[]): Promise<void> {
    await this.posts.tellDeletions(news.map((item) => this.#toDeletion(item)));
    for (const item of news) this.model.tellDeletion(item);
  }

  /** Which deletions the model begins while something happens. */
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

  #toUpdate({ targetId, generation, version, status, externalId, error }: News) {
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

  #toDeletion({ targetId, deletion, version, status }: DeletionNews) {
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
