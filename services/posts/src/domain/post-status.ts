/** Where a post is on its way. */
export type PostStatus =
  | "draft"
  | "scheduled"
  | "publishing"
  | "published"
  | "partial"
  | "failed"
  | "cancelled";

/** Where one target of a post is on its way; `cancelled` = never sent because the post was deleted. */
export type TargetStatus =
  | "pending"
  | "publishing"
  | "published"
  | "failed"
  | "deleting"
  | "deleted"
  | "delete_failed"
  | "cancelled";

/**
 * What can happen to a post: a client's `update`, `publish`, `retry` and `delete`, the `start` of one that is due, and
 * `fold`, the news of its targets.
 */
export type PostOperation = "update" | "publish" | "retry" | "delete" | "start" | "fold";

/** Where an allowed operation may take a post; `gone` leaves no record. */
export type PostDestination = PostStatus | "gone";

/** The stable code with which an operation is refused. */
export type RefusalCode = "post_not_editable" | "invalid_transition" | "nothing_to_retry";

type Rule = readonly PostDestination[] | RefusalCode;

/**
 * Every operation in every status: the statuses that it may lead to, or the code that refuses it. A post that is being
 * published may be deleted as far as this table knows; delivery refuses with `post_publishing` when a call has begun.
 * Folding takes a post back to `publishing` when a failed target turned out to be undecided; `published` is the end,
 * because a published target stays so; what was not sent or was deleted is no longer moved by its targets.
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

/** The code that refuses an operation in a status; undefined when it is allowed. */
export function findRefusal(status: PostStatus, operation: PostOperation): RefusalCode | undefined {
  const rule: Rule = TRANSITIONS[status][operation];
  return typeof rule === "string" ? rule : undefined;
}

/** Where an operation may take a post; nowhere when it is refused. */
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
  // Deletion never changes what became of the post.
  if (targets.length === 0 || !targets.every((status) => SETTLED.has(status))) return undefined;
  const published = targets.filter((status) => status === "published").length;
  if (published === targets.length) return "published";
  return published === 0 ? "failed" : "partial";
}

/**
 * The status that a post has by its targets: all published = `published`, all failed = `failed`, some of each =
 * `partial`, any without an outcome = `publishing`. A post that its targets may not take there keeps what it has.
 */
export function nextPostStatus(current: PostStatus, targets: readonly TargetStatus[]): PostStatus {
  const folded = fold(targets);
  if (folded === undefined) return current;
  return destinations(current, "fold").includes(folded) ? folded : current;
}

/**
 * What a reader sees: a target of a post that is being published is `publishing` too, before delivery has reported it.
 * Starting a post therefore writes one row, however many targets it has.
 */
export function shownTargetStatus(post: PostStatus, target: TargetStatus): TargetStatus {
  return post === "publishing" && target === "pending" ? "publishing" : target;
}

const STATUSES: ReadonlySet<string> = new Set<PostStatus>([
  "draft",
  "scheduled",
  "publishing",
  "published",
  "partial",
  "failed",
  "cancelled",
]);

/** Whether a text names a status. */
export function isPostStatus(text: string): text is PostStatus {
  return STATUSES.has(text);
}
