import { destinations, type PostStatus } from "./transitions.ts";

export type { PostStatus } from "./transitions.ts";

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
