/**
 * The reference model of `model.slow.test.ts`: how the posts service has to behave, without a
 * database, concurrency or time. It is written from the rules and shares only the status types with
 * the service.
 */
import type { PostStatus, TargetStatus } from "#src/domain/post-status.ts";

export interface ModelTarget {
  readonly id: string;
  readonly accountId: string;
  status: TargetStatus;
  generation: number;
  /**
   * Generation and version of the newest report of the delivery service that was applied to the
   * target.
   */
  applied: readonly [generation: number, version: number];
  externalId: string | null;
  error: string | null;
  deletion: number;
  deletionVersion: number;
  dueDay: string | null;
  /** The content for which the target has a duplicate guard; null if it has no guard. */
  guard: string | null;
  /**
   * For when the guarded target is planned: 0 for now, else one of `PLANNED_HOURS`. Only guards of
   * the same time clash.
   */
  plannedIn: number;
  /**
   * Whether the guard was compared with those of other targets; false after `force` and a retry.
   */
  isChecked: boolean;
}

/**
 * Hours after now for which the test schedules posts. They are over 24 hours apart, so that posts
 * of two times never clash.
 */
export const PLANNED_HOURS = [48, 100, 24 * 40] as const;

export interface ModelPost {
  readonly id: string;
  status: PostStatus;
  content: string;
  targets: ModelTarget[];
}

export type Refusal =
  | "duplicate_content"
  | "quota_exceeded"
  | "post_not_editable"
  | "invalid_transition"
  | "nothing_to_retry"
  | "post_publishing"
  | "unavailable";

export interface Wish {
  readonly content: string;
  readonly isForced: boolean;
  readonly dueDay: string | null;
  /** When the post is planned, as `ModelTarget.plannedIn`; undefined if the time stays as it is. */
  readonly plannedIn: number | undefined;
  readonly limit: number;
}

export interface TaskUpdate {
  readonly targetId: string;
  readonly generation: number;
  readonly version: number;
  readonly status: "publishing" | "published" | "failed";
  readonly externalId: string | null;
  readonly error: string | null;
}

export interface DeletionUpdate {
  readonly targetId: string;
  readonly deletion: number;
  readonly version: number;
  readonly status: "deleting" | "deleted" | "delete_failed";
}

export const isOpen = ({ status }: Pick<ModelTarget, "status">) =>
  status === "pending" || status === "publishing";
export const isUnknown = ({ status, error }: ModelTarget) =>
  status === "failed" && error === "outcome_unknown";
const isOut = ({ status }: ModelTarget) =>
  status === "published" ||
  status === "deleting" ||
  status === "deleted" ||
  status === "delete_failed";

/**
 * The state that a workspace must have. Each request either makes its whole change or changes
 * nothing and returns why it is refused.
 */
export class Model {
  readonly posts = new Map<string, ModelPost>();

  target(id: string): { post: ModelPost; target: ModelTarget } | undefined {
    for (const post of this.posts.values())
      for (const target of post.targets) if (target.id === id) return { post, target };
    return undefined;
  }

  targets(): ModelTarget[] {
    return [...this.posts.values()].flatMap(({ targets }) => targets);
  }

  /** Returns the quota that the posts of the workspace use and reserve in a month. */
  month(month: string): { used: number; reserved: number } {
    const counted = this.targets().filter(({ dueDay }) => dueDay?.startsWith(month));
    const used = counted.filter((target) => isOut(target) || isUnknown(target)).length;
    return { used, reserved: counted.filter(isOpen).length };
  }

  /** Adds a post to the reference model, or returns why the post is refused. */
  create(post: ModelPost, wish: Wish): Refusal | undefined {
    const refusal = this.#place(post.targets, wish);
    if (refusal === undefined) this.posts.set(post.id, post);
    return refusal;
  }

  /** Gives duplicate guards and quota to targets, or returns why it cannot. */
  #place(targets: ModelTarget[], wish: Wish): Refusal | undefined {
    const { content, isForced, dueDay, plannedIn, limit } = wish;
    if (dueDay === null) return undefined;
    const others = this.targets().filter(({ id }) => targets.every((target) => target.id !== id));
    const isMoved = (target: ModelTarget) => target.guard !== content || plannedIn !== undefined;
    const isExempt = (target: ModelTarget) =>
      isForced || (target.guard === content && !target.isChecked);
    const clashes = ({ accountId, ...target }: ModelTarget) =>
      others.some(
        (other) =>
          other.accountId === accountId &&
          other.guard === content &&
          other.plannedIn === (plannedIn ?? target.plannedIn),
      );
    const moved = targets.filter(isMoved);
    if (moved.some((target) => !isExempt(target) && clashes(target))) return "duplicate_content";
    const month = dueDay.slice(0, 7);
    const { used, reserved } = this.month(month);
    const before = targets.filter((target) => isOpen(target) && target.dueDay?.startsWith(month));
    const known = this.targets().some(({ id }) => id === targets[0]?.id) ? before.length : 0;
    const more = targets.length - known;
    if (more > 0 && used + reserved + more > limit) return "quota_exceeded";
    for (const target of moved) target.isChecked = !isExempt(target);
    for (const target of targets)
      Object.assign(target, { dueDay, guard: content, plannedIn: plannedIn ?? target.plannedIn });
    return undefined;
  }

  update(id: string, wish: Wish, isScheduled: boolean): Refusal | undefined {
    const post = this.#post(id);
    if (post.status !== "draft" && post.status !== "scheduled") return "post_not_editable";
    const refusal = this.#place(post.targets, wish);
    if (refusal !== undefined) return refusal;
    post.content = wish.content;
    if (isScheduled) post.status = "scheduled";
    return undefined;
  }

  publish(id: string, wish: Omit<Wish, "content">): Refusal | undefined {
    const post = this.#post(id);
    if (post.status !== "draft" && post.status !== "scheduled") return "invalid_transition";
    const refusal = this.#place(post.targets, { ...wish, content: post.content });
    if (refusal === undefined) post.status = "publishing";
    return refusal;
  }

  retry(id: string, dueDay: string, limit: number): Refusal | undefined {
    const post = this.#post(id);
    const failed = post.targets.filter(
      (target) => target.status === "failed" && !isUnknown(target),
    );
    if ((post.status !== "failed" && post.status !== "partial") || failed.length === 0)
      return "nothing_to_retry";
    const { used, reserved } = this.month(dueDay.slice(0, 7));
    if (used + reserved + failed.length > limit) return "quota_exceeded";
    for (const target of failed) {
      const generation = target.generation + 1;
      const wanted = { status: "pending", generation, error: null, dueDay, guard: post.content };
      Object.assign(target, { ...wanted, plannedIn: 0, isChecked: false });
    }
    post.status = "publishing";
    return undefined;
  }

  /**
   * Deletes a post. The delivery service closes its open targets or refuses to. `hasCrashed` means
   * that the posts service crashed before the commit.
   */
  delete(id: string, isClosed: boolean, hasCrashed: boolean): Refusal | undefined {
    const post = this.#post(id);
    if (post.status === "draft" || post.status === "scheduled") {
      this.posts.delete(id);
      return undefined;
    }
    if (post.status === "publishing" && !isClosed) return "post_publishing";
    if (hasCrashed) return "unavailable";
    for (const target of post.targets)
      if (isOpen(target)) Object.assign(target, { status: "cancelled", guard: null });
      else if (target.status === "published" || target.status === "delete_failed")
        this.#requestDeletion(target);

    post.status = "cancelled";
    return undefined;
  }

  #requestDeletion(target: ModelTarget): void {
    const deletion = target.deletion + 1;
    const asked = { status: "deleting", deletion, deletionVersion: 0, error: null, guard: null };
    Object.assign(target, asked);
  }

  start(id: string): void {
    const post = this.#post(id);
    post.status = "publishing";
    for (const target of post.targets) target.plannedIn = 0;
  }

  miss(id: string): void {
    const post = this.#post(id);
    post.status = "failed";
    for (const target of post.targets)
      Object.assign(target, { status: "failed", error: "missed", guard: null });
  }

  /**
   * Requests the publishing of a target again, because the delivery service has closed the target
   * although its post still exists.
   */
  reopen(targetId: string): void {
    const found = this.target(targetId);
    if (found !== undefined && isOpen(found.target)) found.target.generation += 1;
  }

  applyUpdate(update: TaskUpdate): void {
    const found = this.target(update.targetId);
    if (found === undefined) return;
    const { post, target } = found;
    if (isOut(target) && target.status !== "published") return;
    const isPublished = update.status === "published";
    const isFirst = isPublished && target.status !== "published";
    const [generation, version] = target.applied;
    const isNewer =
      update.generation > generation ||
      (update.generation === generation && update.version > version);
    if (!isFirst) {
      const isOfNow = update.generation === target.generation;
      const mayCount = isPublished || (isOfNow && target.status !== "published");
      if (!mayCount || !isNewer) return;
      const isClosed = target.status === "cancelled" || update.status === "publishing";
      if (post.status === "cancelled" && isClosed) return;
    }
    this.#accept(post, target, update);
    if (post.status !== "cancelled") this.#fold(post);
    else if (isPublished) this.#requestDeletion(target);
  }

  #accept(
    post: ModelPost,
    target: ModelTarget,
    { generation, version, ...update }: TaskUpdate,
  ): void {
    const { status, externalId, error } = update;
    const holds = status !== "failed" || error === "outcome_unknown";
    const wasPublished = target.status === "published";
    // A duplicate guard that has expired is not restored.
    const guard = holds ? (wasPublished ? target.guard : post.content) : null;
    if (target.guard === null) Object.assign(target, { plannedIn: 0, isChecked: false });
    Object.assign(target, { status, externalId, error, guard, applied: [generation, version] });
  }

  #fold(post: ModelPost): void {
    const published = post.targets.filter(({ status }) => status === "published").length;
    if (post.targets.some(isOpen)) post.status = "publishing";
    else if (published === post.targets.length) post.status = "published";
    else post.status = published === 0 ? "failed" : "partial";
  }

  applyDeletion({ targetId, deletion, version, status }: DeletionUpdate): void {
    const target = this.target(targetId)?.target;
    if (target?.status !== "deleting" && target?.status !== "delete_failed") return;
    const isNewer = deletion === target.deletion && version > target.deletionVersion;
    const counts = status === "deleted" ? deletion <= target.deletion : isNewer;
    if (counts) Object.assign(target, { status, deletionVersion: version });
  }

  /** Lets a day pass, so that the duplicate guards of published targets expire. */
  endGuards(): void {
    for (const target of this.targets()) if (target.status === "published") target.guard = null;
  }

  #post(id: string): ModelPost {
    const post = this.posts.get(id);
    if (post === undefined) throw new Error(`the model has no post ${id}`);
    return post;
  }
}
