import { NIL_ID } from "@postrider/shared/ids";
import type { ISql } from "@postrider/shared/postgres";
import { listWaitingWorkspaces, releaseCompositions } from "#src/webhooks/db/compositions.ts";

/** Maximum number of workspaces whose webhook events are on one page. */
const MAX_WORKSPACES = 200;

/**
 * What a process remembers between two pages of webhook events: which workspaces have the next turn, and which claims it
 * could not end because the database failed.
 */
export class ComposeTurn {
  #after = NIL_ID;
  #unreleased: readonly string[] = [];

  /** Whether workspaces follow that had no turn since the first one. */
  get hasMore(): boolean {
    return this.#after !== NIL_ID;
  }

  /** Returns the workspaces that have the next turn. */
  async next(sql: ISql): Promise<readonly string[]> {
    const found = await listWaitingWorkspaces(sql, this.#after, MAX_WORKSPACES);
    const isLast = found.length < MAX_WORKSPACES;
    const last = isLast ? undefined : found.at(-1);
    const wasFirst = !this.hasMore;
    this.#after = last ?? NIL_ID;
    return found.length === 0 && !wasFirst ? await this.next(sql) : found;
  }

  /** Remembers claims of webhook events that have to end although the database failed. */
  keep(eventIds: readonly string[]): void {
    this.#unreleased = eventIds;
  }

  /** Ends the claims that could not be ended before, so that the events do not wait until their lease ends. */
  async releaseKept(sql: ISql): Promise<void> {
    await releaseCompositions(sql, this.#unreleased);
    this.#unreleased = [];
  }
}
