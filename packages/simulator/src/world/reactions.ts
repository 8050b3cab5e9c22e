import type { Store } from "#src/store/store.ts";
import type { Table } from "#src/store/table.ts";
import { firstIndexWhere } from "#src/world/search.ts";

/**
 * A comment on a post, or a reply to a comment. The author is a reader, who has no account in the simulator, or the
 * account itself.
 */
export interface Comment {
  readonly id: string;
  readonly platform: string;
  readonly account: string;
  /** Id of the post that has the comment; for a reply, the id of the comment that it answers. */
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

/** The metrics of a post from the given time on, in Unix milliseconds of the simulator's clock. */
interface MetricReading {
  readonly at: number;
  readonly values: MetricValues;
}

/** Maximum number of earlier values of a post's metrics that the simulator keeps. */
const MAX_READINGS = 50;

/** The comments on posts of the simulated platforms, and the metrics of these posts. Tests set both through the control API. */
export class Reactions {
  readonly #comments: Table<Comment>;
  readonly #metrics: Table<readonly MetricReading[]>;
  /** The comments on each post, in order of their time. */
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

  /** The comments on a post, or the replies to a comment, oldest first. */
  commentsOn(platform: string, postId: string): readonly Comment[] {
    return this.#byPost.get(`${platform}:${postId}`) ?? [];
  }

  /** The number of comments that a post has at the given time. */
  countComments(platform: string, postId: string, instant: number): number {
    const list = this.commentsOn(platform, postId);
    return firstIndexWhere(list, ({ createdAt }) => createdAt > instant);
  }

  /** Sets some counters of a post on a simulated platform. The other counters keep their values. */
  setMetrics(platform: string, postId: string, values: MetricValues, now: number): MetricValues {
    const merged = { ...this.metricsOf(platform, postId), ...values };
    const earlier = this.#readings(platform, postId).slice(1 - MAX_READINGS);
    this.#metrics.put(`${platform}:${postId}`, [...earlier, { at: now, values: merged }]);
    return merged;
  }

  metricsOf(platform: string, postId: string): MetricValues {
    return this.#readings(platform, postId).at(-1)?.values ?? {};
  }

  /** The metrics that a post had at the given time. */
  metricsAt(platform: string, postId: string, instant: number): MetricValues {
    return this.#readings(platform, postId).findLast(({ at }) => at <= instant)?.values ?? {};
  }

  #readings(platform: string, postId: string): readonly MetricReading[] {
    return this.#metrics.get(`${platform}:${postId}`) ?? [];
  }

  /** Inserts a comment after all comments with the same or an earlier time. Almost every new comment is the latest one. */
  #index(comment: Comment): void {
    const key = `${comment.platform}:${comment.mediaId}`;
    const list = this.#byPost.get(key) ?? [];
    this.#byPost.set(key, list);
    const before = list.findLastIndex(({ createdAt }) => createdAt <= comment.createdAt);
    list.splice(before + 1, 0, comment);
  }
}
