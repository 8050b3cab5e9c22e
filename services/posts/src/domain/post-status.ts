export const POST_STATUSES = [
  "draft",
  "scheduled",
  "publishing",
  "published",
  "partial",
  "failed",
  "cancelled",
] as const;

export type PostStatus = (typeof POST_STATUSES)[number];

/** `cancelled`: nothing was published on the account, because the post was deleted before. */
export const TARGET_STATUSES = [
  "pending",
  "publishing",
  "published",
  "failed",
  "deleting",
  "deleted",
  "delete_failed",
  "cancelled",
] as const;

export type TargetStatus = (typeof TARGET_STATUSES)[number];

/**
 * Requests of clients, the `start` of a scheduled post, and `fold`: the status follows from the
 * targets after one was updated.
 */
export type PostOperation = "update" | "publish" | "retry" | "delete" | "start" | "fold";

/** `gone`: no record of the post is left. */
export type PostDestination = PostStatus | "gone";

export type RefusalCode = "post_not_editable" | "invalid_transition" | "nothing_to_retry";

type Rule = readonly PostDestination[] | RefusalCode;

/**
 * What an operation may lead to, or why it is refused. A publishing post can be deleted; the
 * delivery service refuses it with `post_publishing` once it publishes. `fold` leads back to
 * `publishing` when a target that was reported as failed may still be published. `published` is
 * final.
 */
const TRANSITIONS = {
  draft: {
    update: ["draft", "scheduled"],
    publish: ["publishing"],
    retry: "nothing_to_retry",
    delete: ["gone"],
    start: "invalid_transition",
    fold: "invalid_transition",
  },
  scheduled: {
    update: ["scheduled"],
    publish: ["publishing"],
    retry: "nothing_to_retry",
    delete: ["gone"],
    start: ["publishing", "failed"],
    fold: "invalid_transition",
  },
  publishing: {
    update: "post_not_editable",
    publish: "invalid_transition",
    retry: "nothing_to_retry",
    delete: ["cancelled"],
    start: "invalid_transition",
    fold: ["published", "partial", "failed"],
  },
  published: {
    update: "post_not_editable",
    publish: "invalid_transition",
    retry: "nothing_to_retry",
    delete: ["cancelled"],
    start: "invalid_transition",
    fold: "invalid_transition",
  },
  partial: {
    update: "post_not_editable",
    publish: "invalid_transition",
    retry: ["publishing"],
    delete: ["cancelled"],
    start: "invalid_transition",
    fold: ["publishing", "published"],
  },
  failed: {
    update: "post_not_editable",
    publish: "invalid_transition",
    retry: ["publishing"],
    delete: ["cancelled"],
    start: "invalid_transition",
    fold: ["publishing", "partial", "published"],
  },
  cancelled: {
    update: "post_not_editable",
    publish: "invalid_transition",
    retry: "nothing_to_retry",
    delete: ["cancelled"],
    start: "invalid_transition",
    fold: "invalid_transition",
  },
} satisfies Record<PostStatus, Record<PostOperation, Rule>>;

export function findRefusal(status: PostStatus, operation: PostOperation): RefusalCode | undefined {
  const rule: Rule = TRANSITIONS[status][operation];
  return typeof rule === "string" ? rule : undefined;
}

export function listStatusesFor(operation: PostOperation): readonly PostStatus[] {
  return POST_STATUSES.filter((status) => findRefusal(status, operation) === undefined);
}

export function destinations(
  status: PostStatus,
  operation: PostOperation,
): readonly PostDestination[] {
  const rule: Rule = TRANSITIONS[status][operation];
  return typeof rule === "string" ? [] : rule;
}

const OPEN: ReadonlySet<TargetStatus> = new Set(["pending", "publishing"]);
const SETTLED: ReadonlySet<TargetStatus> = new Set(["published", "failed"]);

function isOpen(status: TargetStatus): boolean {
  return OPEN.has(status);
}

function fold(targets: readonly TargetStatus[]): PostStatus | undefined {
  if (targets.some(isOpen)) return "publishing";
  // A post with a deleted target keeps its status, because deleting targets does not change the
  // status of their post.
  if (targets.length === 0 || !targets.every((status) => SETTLED.has(status))) return undefined;
  const published = targets.filter((status) => status === "published").length;
  if (published === targets.length) return "published";
  return published === 0 ? "failed" : "partial";
}

/**
 * `publishing` while any target has no outcome. The post keeps its status if the table does not
 * allow the new one.
 */
export function nextPostStatus(current: PostStatus, targets: readonly TargetStatus[]): PostStatus {
  const folded = fold(targets);
  if (folded === undefined) return current;
  return destinations(current, "fold").includes(folded) ? folded : current;
}

/**
 * `publishing` for all targets of a publishing post, so that starting a post writes only its own
 * row, however many targets it has.
 */
export function shownTargetStatus(post: PostStatus, target: TargetStatus): TargetStatus {
  return post === "publishing" && target === "pending" ? "publishing" : target;
}

const KNOWN_STATUSES: ReadonlySet<string> = new Set(POST_STATUSES);

export function isPostStatus(text: string): text is PostStatus {
  return KNOWN_STATUSES.has(text);
}
