import type { Sql } from "#src/postgres.ts";
import { startLoop } from "#src/process/loop.ts";
import type { Logger } from "#src/telemetry/logger.ts";
import { isRemoved, recordRemoval } from "#src/workspaces/removed-workspaces.ts";
import {
  deleteParkedEvents,
  deleteWorkspaceRows,
  hasRowsOf,
  hasWaitingEvents,
} from "#src/workspaces/workspace-rows.ts";

/** A workspace that is stopped, as the accounts service says. */
export interface StoppedWorkspace {
  readonly workspaceId: string;
  /** Whether its deletion was requested, or it is being imported. */
  readonly isDeleted: boolean;
  /** Whether it is frozen for a move to another cell. */
  readonly isMoving: boolean;
  /** Whether it is the other cell's. */
  readonly isMoved: boolean;
  readonly isRemoving: boolean;
  readonly accountIds: readonly string[];
  /** The services in which nothing of it is left. */
  readonly doneServices: readonly string[];
  readonly settleMs: number;
}

export interface RemovalReport {
  readonly rows: number;
  readonly isDone: boolean;
}

export interface WorkspaceRemovalOptions {
  readonly sql: Sql;
  readonly logger: Logger;
  readonly service: string;
  readonly list: () => Promise<readonly StoppedWorkspace[]>;
  readonly report: (workspaceId: string, report: RemovalReport) => Promise<unknown>;
  /**
   * Instead of an audit line and the last report, when nothing is left but `except`. Returns false
   * while it must be tried again.
   */
  readonly finish?: (workspaceId: string, rows: number) => Promise<boolean>;
  /** Called when nothing is left, before the last report. */
  readonly onFinish?: (workspaceId: string) => Promise<void>;
  /** Called before every list is asked for. */
  readonly onAsk?: () => Promise<void>;
  /** Called with every list, to stop what the service does for these workspaces. */
  readonly onList?: (workspaces: readonly StoppedWorkspace[]) => Promise<void>;
  /** Tables whose rows other code removes; the removal waits until they are empty. */
  readonly waitsFor?: readonly string[];
  /** Tables whose rows stay until `finish`. */
  readonly except?: readonly string[];
  /**
   * Removes what no column `workspace_id` finds. Returns "again" after a page with more to follow,
   * and false while something must end first; then nothing else is removed.
   */
  readonly prepare?: (workspace: StoppedWorkspace) => Promise<boolean | "again">;
  readonly intervalMs?: number;
}

/** As fast as the revocation of a key, and an empty answer costs little. */
const INTERVAL_MS = 5_000;
/** Between two pages, so that the removal leaves the database to others. */
const PAUSE_MS = 20;
/** Rows after which the progress is reported. */
const REPORT_ROWS = 5_000;

/**
 * One step of the removal of a workspace. A pass goes through all tables. After one that deleted
 * something the job waits, so that work that was under way has ended, and looks again; a pass that
 * finds nothing is the proof that nothing is left. Nothing about the progress is stored: after a
 * crash a pass begins again and finds less.
 */
export class WorkspaceRemoval {
  readonly #options: WorkspaceRemovalOptions;
  readonly workspace: StoppedWorkspace;
  #pages: AsyncGenerator<number, undefined> | undefined;
  #passRows = 0;
  #unreported = 0;
  #notBefore = 0;

  constructor(options: WorkspaceRemovalOptions, workspace: StoppedWorkspace) {
    this.#options = options;
    this.workspace = workspace;
  }

  /** Returns the milliseconds until the next step, or undefined when nothing is left. */
  async step(): Promise<number | undefined> {
    const { sql, prepare, waitsFor = [], except = [] } = this.#options;
    const waitMs = this.#notBefore - performance.now();
    if (waitMs > 0) return waitMs;
    const { workspaceId } = this.workspace;
    if (this.#pages === undefined) {
      const prepared = await prepare?.(this.workspace);
      if (prepared === "again") return PAUSE_MS;
      if (prepared === false) return this.#wait(this.#intervalMs);
      this.#pages = deleteWorkspaceRows(sql, workspaceId, [...waitsFor, ...except]);
      this.#passRows = 0;
    }
    const next = await this.#nextPage(this.#pages);
    if (next.done !== true) {
      this.#passRows += next.value;
      await this.#count(next.value);
      return PAUSE_MS;
    }
    this.#pages = undefined;
    return await this.#endPass();
  }

  /** An error ends the pass, which then proves nothing. */
  async #nextPage(pages: AsyncGenerator<number, undefined>) {
    try {
      return await pages.next();
    } catch (error) {
      this.#pages = undefined;
      throw error;
    }
  }

  async #endPass(): Promise<number | undefined> {
    const { sql, waitsFor = [] } = this.#options;
    const { workspaceId, settleMs } = this.workspace;
    await deleteParkedEvents(sql, workspaceId);
    const isLeft =
      (await hasWaitingEvents(sql, workspaceId)) || (await hasRowsOf(sql, waitsFor, workspaceId));
    if (this.#passRows > 0 || isLeft)
      return this.#wait(this.#passRows > 0 ? settleMs : this.#intervalMs);
    return await this.#finish();
  }

  /** Not longer than what was under way needs to end, which tests shorten. */
  get #intervalMs(): number {
    return Math.min(INTERVAL_MS, this.workspace.settleMs);
  }

  /** The other workspaces take their steps meanwhile, 50 a second. */
  #wait(ms: number): number {
    this.#notBefore = performance.now() + ms;
    return ms;
  }

  async #count(rows: number): Promise<void> {
    this.#unreported += rows;
    if (this.#unreported < REPORT_ROWS) return;
    await this.#options.report(this.workspace.workspaceId, {
      rows: this.#unreported,
      isDone: false,
    });
    this.#unreported = 0;
  }

  async #finish(): Promise<number | undefined> {
    const { sql, report, finish, onFinish, logger } = this.#options;
    const { workspaceId } = this.workspace;
    if (finish !== undefined)
      return (await finish(workspaceId, this.#unreported))
        ? undefined
        : this.#wait(this.#intervalMs);
    await sql.begin(async (tx) => {
      const [row] = await tx<[{ isKnown: boolean }]>`
        select ${isRemoved(tx, tx`${workspaceId}::uuid`)} as is_known`;
      if (!row.isKnown) await recordRemoval(tx, workspaceId, { rows: this.#unreported });
    });
    await onFinish?.(workspaceId);
    await report(workspaceId, { rows: this.#unreported, isDone: true });
    this.#unreported = 0;
    logger.info(
      { job: "remove-workspaces", workspaceId },
      "nothing of a deleted workspace is left",
    );
    return undefined;
  }
}

/**
 * Asks the accounts service which workspaces are stopped and removes what this service stores of
 * those whose time has come. They take turns page by page. A lost answer delays the removal until
 * the next one.
 */
export function startRemovingWorkspaces(options: WorkspaceRemovalOptions): AsyncDisposable {
  const { service, list, onAsk, onList, logger, intervalMs = INTERVAL_MS } = options;
  const running = new Map<string, WorkspaceRemoval>();
  let listedAt = Number.NEGATIVE_INFINITY;
  const look = async (): Promise<void> => {
    await onAsk?.();
    const workspaces = await list();
    await onList?.(workspaces);
    listedAt = performance.now();
    const due = workspaces.filter(
      ({ isRemoving, doneServices }) => isRemoving && !doneServices.includes(service),
    );
    for (const id of running.keys())
      if (!due.some(({ workspaceId }) => workspaceId === id)) running.delete(id);
    for (const workspace of due)
      if (!running.has(workspace.workspaceId))
        running.set(workspace.workspaceId, new WorkspaceRemoval(options, workspace));
  };
  const onError = (error: unknown): void =>
    logger.warn(
      { err: error, job: "remove-workspaces" },
      "the removal of deleted workspaces was interrupted; the job remove-workspaces continues",
    );
  /** One workspace that cannot be removed does not stop the others. */
  const stepOf = async (removal: WorkspaceRemoval): Promise<number | undefined> => {
    try {
      return await removal.step();
    } catch (error) {
      onError(error);
      return intervalMs;
    }
  };
  return startLoop({
    idleMs: intervalMs,
    work: async () => {
      if (performance.now() - listedAt >= intervalMs - PAUSE_MS) await look();
      const waits: number[] = [];
      for (const [id, removal] of running) {
        const waitMs = await stepOf(removal);
        if (waitMs === undefined) running.delete(id);
        else waits.push(waitMs);
      }
      return waits.length === 0 ? false : Math.min(...waits);
    },
    onError,
  });
}
