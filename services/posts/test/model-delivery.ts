import type { DeletionUpdate, TaskUpdate } from "./model.ts";

interface Task {
  readonly targetId: string;
  readonly generation: number;
  update: TaskUpdate;
}

const keyOf = (targetId: string, number: number) => `${targetId} ${number}`;

/** In memory. Publishes each target at most once, whichever generation succeeds. */
export class ModelDelivery {
  readonly #tasks = new Map<string, Task>();
  readonly #closed = new Set<string>();
  readonly #deletions = new Map<string, DeletionUpdate>();

  /** Undefined when the request is a repetition or is refused. */
  request(targetId: string, generation: number): TaskUpdate | undefined {
    const key = keyOf(targetId, generation);
    if (this.#tasks.has(key) || this.#closed.has(key) || this.published(targetId)) return undefined;
    const base = { targetId, generation, version: 1, externalId: null, error: null };
    const task: Task = { targetId, generation, update: { ...base, status: "publishing" } };
    this.#tasks.set(key, task);
    return task.update;
  }

  tasks(): readonly Task[] {
    return [...this.#tasks.values()];
  }

  findTask(targetId: string, generation: number): Task | undefined {
    return this.#tasks.get(keyOf(targetId, generation));
  }

  find(targetId: string, generation: number): TaskUpdate | undefined {
    return this.findTask(targetId, generation)?.update;
  }

  published(targetId: string): TaskUpdate | undefined {
    return this.tasks().find(
      (task) => task.targetId === targetId && task.update.status === "published",
    )?.update;
  }

  /** `choice` in [0, 1) selects the step. Undefined when the task has ended. */
  advance(task: Task, choice: number): TaskUpdate | undefined {
    const { update } = task;
    const version = update.version + 1;
    const published = () => ({ status: "published" as const, externalId: `x-${task.targetId}` });
    const failed = (error: string) => ({ status: "failed" as const, error });
    const isFirst = this.published(task.targetId) === undefined;
    const next = (): Partial<TaskUpdate> | undefined => {
      if (update.status === "published") return choice < 0.2 ? {} : undefined;
      if (update.status === "publishing" && update.version === 1) return {};
      if (choice < 0.4 && isFirst) return { ...published(), error: null };
      if (choice < 0.7) return failed("content_rejected");
      return failed("outcome_unknown");
    };
    const change = next();
    if (change === undefined) return undefined;
    task.update = { ...update, ...change, version };
    return task.update;
  }

  /** Reports that publishing has succeeded although it was reported as failed. */
  succeed(task: Task): TaskUpdate {
    const { targetId, update } = task;
    const version = update.version + 1;
    task.update = {
      ...update,
      status: "published",
      externalId: `x-${targetId}`,
      error: null,
      version,
    };
    return task.update;
  }

  isCalling(targetId: string, generation: number): boolean {
    const update = this.find(targetId, generation);
    return update !== undefined && update.status === "publishing" && update.version > 1;
  }

  hasEnded(targetId: string, generation: number): TaskUpdate | undefined {
    const update = this.published(targetId) ?? this.find(targetId, generation);
    return update?.status === "publishing" ? undefined : update;
  }

  close(targetId: string, generation: number): void {
    this.#tasks.delete(keyOf(targetId, generation));
    this.#closed.add(keyOf(targetId, generation));
  }

  isClosed(targetId: string, generation: number): boolean {
    return this.#closed.has(keyOf(targetId, generation));
  }

  requestDeletion(targetId: string, deletion: number): void {
    const key = keyOf(targetId, deletion);
    if (!this.#deletions.has(key))
      this.#deletions.set(key, { targetId, deletion, version: 1, status: "deleting" });
  }

  findDeletion(targetId: string, deletion: number): DeletionUpdate | undefined {
    return this.#deletions.get(keyOf(targetId, deletion));
  }

  deletions(): readonly DeletionUpdate[] {
    return [...this.#deletions.values()];
  }

  advanceDeletion(update: DeletionUpdate, choice: number): DeletionUpdate | undefined {
    if (update.status !== "deleting") return undefined;
    const status = choice < 0.3 ? "deleting" : choice < 0.7 ? "deleted" : "delete_failed";
    const next = { ...update, status, version: update.version + 1 } as const;
    this.#deletions.set(keyOf(update.targetId, update.deletion), next);
    return next;
  }
}
