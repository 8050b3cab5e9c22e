import type { DeletionNews, News } from "./model.ts";

interface Task {
  readonly targetId: string;
  readonly generation: number;
  news: News;
}

const keyOf = (targetId: string, number: number) => `${targetId} ${number}`;

/** Delivery as the posts service has to expect it, in memory: each target is published at most once, by any generation. */
export class ModelDelivery {
  readonly #tasks = new Map<string, Task>();
  readonly #closed = new Set<string>();
  readonly #deletions = new Map<string, DeletionNews>();

  /** The answer to a request; undefined when it is known already or not taken. */
  request(targetId: string, generation: number): News | undefined {
    const key = keyOf(targetId, generation);
    if (this.#tasks.has(key) || this.#closed.has(key) || this.published(targetId)) return undefined;
    const base = { targetId, generation, version: 1, externalId: null, error: null };
    const task: Task = { targetId, generation, news: { ...base, status: "publishing" } };
    this.#tasks.set(key, task);
    return task.news;
  }

  tasks(): readonly Task[] {
    return [...this.#tasks.values()];
  }

  findTask(targetId: string, generation: number): Task | undefined {
    return this.#tasks.get(keyOf(targetId, generation));
  }

  find(targetId: string, generation: number): News | undefined {
    return this.findTask(targetId, generation)?.news;
  }

  published(targetId: string): News | undefined {
    return this.tasks().find(
      (task) => task.targetId === targetId && task.news.status === "published",
    )?.news;
  }

  /** Moves a task on; `choice` in [0, 1) decides where to. Undefined when there is nowhere to go. */
  advance(task: Task, choice: number): News | undefined {
    const { news } = task;
    const version = news.version + 1;
    const published = () => ({ status: "published" as const, externalId: `x-${task.targetId}` });
    const failed = (error: string) => ({ status: "failed" as const, error });
    const isFirst = this.published(task.targetId) === undefined;
    const next = (): Partial<News> | undefined => {
      if (news.status === "published") return choice < 0.2 ? {} : undefined;
      if (news.status === "publishing" && news.version === 1) return {};
      if (choice < 0.4 && isFirst) return { ...published(), error: null };
      if (choice < 0.7) return failed("content_rejected");
      return failed("outcome_unknown");
    };
    const change = next();
    if (change === undefined) return undefined;
    task.news = { ...news, ...change, version };
    return task.news;
  }

  /** A call that nobody expects anything of any more has succeeded after all. */
  succeed(task: Task): News {
    const { targetId, news } = task;
    const version = news.version + 1;
    task.news = { ...news, status: "published", externalId: `x-${targetId}`, error: null, version };
    return task.news;
  }

  isCalling(targetId: string, generation: number): boolean {
    const news = this.find(targetId, generation);
    return news !== undefined && news.status === "publishing" && news.version > 1;
  }

  hasEnded(targetId: string, generation: number): News | undefined {
    const news = this.published(targetId) ?? this.find(targetId, generation);
    return news?.status === "publishing" ? undefined : news;
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

  findDeletion(targetId: string, deletion: number): DeletionNews | undefined {
    return this.#deletions.get(keyOf(targetId, deletion));
  }

  deletions(): readonly DeletionNews[] {
    return [...this.#deletions.values()];
  }

  advanceDeletion(news: DeletionNews, choice: number): DeletionNews | undefined {
    if (news.status !== "deleting") return undefined;
    const status = choice < 0.3 ? "deleting" : choice < 0.7 ? "deleted" : "delete_failed";
    const next = { ...news, status, version: news.version + 1 } as const;
    this.#deletions.set(keyOf(news.targetId, news.deletion), next);
    return next;
  }
}
