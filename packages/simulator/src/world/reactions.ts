import type { Store, Table } from "#src/store/store.ts";
import { firstIndexWhere } from "#src/world/posts.ts";

/** The author is a reader, who has no account in the simulator, or the account itself. */
export interface Comment {
  readonly id: string;
  readonly platform: string;
  readonly account: string;
  /** Id of the post; for a reply, id of the comment that it answers. */
  readonly mediaId: string;
  readonly author: string;
  readonly text: string;
  readonly createdAt: number;
}

export const METRIC_NAMES = [
  "views",
  "impressions",
  "reach",
  "likes",
  "comments",
  "shares",
  "saves",
] as const;

export type MetricName = (typeof METRIC_NAMES)[number];

export type MetricValues = Readonly<Partial<Record<MetricName, number>>>;

interface MetricReading {
  readonly at: number;
  readonly values: MetricValues;
}

const MAX_READINGS = 50;

export class Reactions {
  readonly #comments: Table<Comment>;
  readonly #metrics: Table<readonly MetricReading[]>;
  readonly #byPost = new Map<string, Comment[]>();

  constructor(store: Store) {
    this.#comments = store.table<Comment>("comments");
    this.#metrics = store.table<readonly MetricReading[]>("metric_readings");
    for (const comment of this.#comments.values()) this.#index(comment);
    store.onReset(() => this.#byPost.clear());
  }

  addComment(comment: Comment): Comment {
    this.#comments.put(`${comment.platform}:${comment.id}`, comment);
    this.#index(comment);
    return comment;
  }

  comment(platform: string, id: string): Comment | undefined {
    return this.#comments.get(`${platform}:${id}`);
  }

  commentsOn(platform: string, postId: string): readonly Comment[] {
    return this.#byPost.get(`${platform}:${postId}`) ?? [];
  }

  countComments(platform: string, postId: string, instant: number): number {
    const list = this.commentsOn(platform, postId);
    return firstIndexWhere(list, ({ createdAt }) => createdAt > instant);
  }

  /** The other counters keep their values. */
  setMetrics(platform: string, postId: string, values: MetricValues, now: number): MetricValues {
    const merged = { ...this.metricsOf(platform, postId), ...values };
    const earlier = this.#readings(platform, postId).slice(1 - MAX_READINGS);
    this.#metrics.put(`${platform}:${postId}`, [...earlier, { at: now, values: merged }]);
    return merged;
  }

  metricsOf(platform: string, postId: string): MetricValues {
    return this.#readings(platform, postId).at(-1)?.values ?? {};
  }

  metricsAt(platform: string, postId: string, instant: number): MetricValues {
    return this.#readings(platform, postId).findLast(({ at }) => at <= instant)?.values ?? {};
  }

  #readings(platform: string, postId: string): readonly MetricReading[] {
    return this.#metrics.get(`${platform}:${postId}`) ?? [];
  }

  /** Almost every new comment is the latest one. */
  #index(comment: Comment): void {
    const key = `${comment.platform}:${comment.mediaId}`;
    const list = this.#byPost.get(key) ?? [];
    this.#byPost.set(key, list);
    const before = list.findLastIndex(({ createdAt }) => createdAt <= comment.createdAt);
    list.splice(before + 1, 0, comment);
  }
}
