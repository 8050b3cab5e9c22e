import { NIL_ID } from "@postrider/shared/ids";
import type { ISql } from "@postrider/shared/postgres";
import { listWaitingWorkspaces, releaseCompositions } from "#src/webhooks/db/compositions.ts";

const MAX_WORKSPACES = 200;

/**
 * What a process remembers between two pages: which workspaces have the next turn, and which claims
 * it could not end because the database failed.
 */
export class ComposeTurn {
  #after = NIL_ID;
  #unreleased: readonly string[] = [];

  /** Whether workspaces follow that had no turn since the first one. */
  get hasMore(): boolean {
    return this.#after !== NIL_ID;
  }

  async next(sql: ISql): Promise<readonly string[]> {
    const found = await listWaitingWorkspaces(sql, this.#after, MAX_WORKSPACES);
    const isLast = found.length < MAX_WORKSPACES;
    const last = isLast ? undefined : found.at(-1);
    const wasFirst = !this.hasMore;
    this.#after = last ?? NIL_ID;
    return found.length === 0 && !wasFirst ? await this.next(sql) : found;
  }

  keep(eventIds: readonly string[]): void {
    this.#unreleased = eventIds;
  }

  /** So that the events do not wait until their lease ends. */
  async releaseKept(sql: ISql): Promise<void> {
    await releaseCompositions(sql, this.#unreleased);
    this.#unreleased = [];
  }
}
