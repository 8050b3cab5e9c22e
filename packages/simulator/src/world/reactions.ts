import type { Store } from "#src/store/store.ts";
import type { Table } from "#src/store/table.ts";

/** A reader's comment on a post. The reader has no account in the simulator. */
export interface Comment {
  readonly id: string;
  readonly platform: string;
  readonly account: string;
  /** Id of the post on which the reader commented. */
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

/**
 * Readers' comments on posts of the simulated platforms, and the counters of these posts. Tests set
 * both through the control API.
 */
export class Reactions {
  readonly #comments: Table<Comment>;
  readonly #metrics: Table<MetricValues>;

  constructor(store: Store) {
    this.#comments = store.table<Comment>("comments");
    this.#metrics = store.table<MetricValues>("metrics");
  }

  addComment(comment: Comment): Comment {
    this.#comments.put(`${comment.platform}:${comment.id}`, comment);
    return comment;
  }

  comment(platform: string, id: string): Comment | undefined {
    return this.#comments.get(`${platform}:${id}`);
  }

  /** The readers' comments on a post, oldest first. */
  commentsOn(platform: string, postId: string): Comment[] {
    return [...this.#comments.values()].filter(
      (comment) => comment.platform === platform && comment.mediaId === postId,
    );
  }

  /** Sets some counters of a post on a simulated platform. The other counters keep their values. */
  setMetrics(platform: string, postId: string, values: MetricValues): MetricValues {
    const merged = { ...this.metricsOf(platform, postId), ...values };
    this.#metrics.put(`${platform}:${postId}`, merged);
    return merged;
  }

  metricsOf(platform: string, postId: string): MetricValues {
    return this.#metrics.get(`${platform}:${postId}`) ?? {};
  }
}
