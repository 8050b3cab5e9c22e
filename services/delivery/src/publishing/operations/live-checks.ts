import { setMaxListeners } from "node:events";
import type { LiveCheckEnd } from "@postrider/platforms/diagnosis/live/check-context";
import { DELETE_STEP } from "@postrider/platforms/diagnosis/live/delete-steps";
import {
  describeInterruption,
  endInterruptedCheck,
  type InterruptedCheck,
  INTERRUPTION,
  mayHaveLeftPost,
} from "@postrider/platforms/diagnosis/live/end-interrupted-check";
import { liveCheckText } from "@postrider/platforms/diagnosis/live/least-visible";
import { runLiveCheck } from "@postrider/platforms/diagnosis/live/run-live-check";
import type { PublicationMedia } from "@postrider/platforms/publishing/publication";
import { PLATFORM_FACTS } from "@postrider/platforms/registry";
import { appendAudit } from "@postrider/shared/audit/append";
import { conflict, isUnanswered, ServiceError } from "@postrider/shared/errors";
import { newId } from "@postrider/shared/ids";
import * as leases from "#src/publishing/db/live-check-leases.ts";
import type { InterruptedRow } from "#src/publishing/db/live-check-leases.ts";
import * as rows from "#src/publishing/db/live-checks.ts";
import { addLiveCheckStep } from "#src/publishing/db/live-checks.ts";
import { type CheckedAccount, getCheckedAccount } from "./account-diagnosis.ts";
import { createLiveCheckContext, type LiveCheckDeps } from "./live-check-context.ts";

/** After that, the operator must delete the post: its deletion may crash the processes. */
const MAX_INTERRUPTIONS = 5;

function toInterrupted(row: InterruptedRow, { visibleCallMs }: LiveCheckDeps): InterruptedCheck {
  const { steps, calledAt, externalId, permalink } = row;
  return {
    steps,
    calledAt: calledAt ?? undefined,
    callUntil: new Date((calledAt?.getTime() ?? 0) + visibleCallMs),
    post: externalId === null ? undefined : { externalId, permalink },
  };
}

async function findCheckedAccount(
  { accounts }: LiveCheckDeps,
  { workspaceId, accountId }: InterruptedRow,
): Promise<CheckedAccount | undefined> {
  try {
    return await getCheckedAccount(accounts, { workspaceId, accountId });
  } catch (error) {
    if (error instanceof ServiceError && error.reason === "not_found") return undefined;
    throw error;
  }
}

/** The media of the post, used to search for the post; none if they no longer exist. */
async function findMedia(
  { findFile }: LiveCheckDeps,
  checked: CheckedAccount,
  { mediaId }: InterruptedRow,
): Promise<readonly PublicationMedia[]> {
  if (mediaId === null) return [];
  try {
    return [await findFile(checked, mediaId)];
  } catch (error) {
    if (error instanceof ServiceError && !isUnanswered(error)) return [];
    throw error;
  }
}

/** Ends a live check whose post this service cannot delete. */
async function leaveToOperator(
  { sql }: LiveCheckDeps,
  row: InterruptedRow,
  reason: string,
): Promise<LiveCheckEnd> {
  const { text, externalId, permalink } = row;
  const place = externalId === null ? `look for “${text}” and` : "please";
  const post = externalId === null ? "it" : `the post ${permalink ?? externalId}`;
  const found = `${reason}: ${place} delete ${post} by hand`;
  await addLiveCheckStep(sql, row, { name: DELETE_STEP, status: "warning", found, tookMs: 0 });
  return "ended";
}

/**
 * Deletes the post that the check may have left. `interrupted`: this process stops too, and another
 * must continue. A ServiceError of accounts or media: it is tried again after its lease.
 */
async function endInterruptedLiveCheck(
  deps: LiveCheckDeps,
  row: InterruptedRow,
  stopping: AbortSignal,
): Promise<LiveCheckEnd> {
  const interrupted = toInterrupted(row, deps);
  const explain = () => addLiveCheckStep(deps.sql, row, describeInterruption(interrupted));
  if (!mayHaveLeftPost(interrupted, PLATFORM_FACTS[row.platform].liveCheck)) {
    await explain();
    return "ended";
  }
  if (row.steps.filter(({ name }) => name === INTERRUPTION).length >= MAX_INTERRUPTIONS)
    return await leaveToOperator(deps, row, "the deletion was interrupted several times");
  const checked = await findCheckedAccount(deps, row);
  if (checked?.credential.accountStatus !== "active") {
    await explain();
    return await leaveToOperator(deps, row, "the account is no longer connected");
  }
  const media = await findMedia(deps, checked, row);
  const context = createLiveCheckContext(deps, row, checked, media, stopping);
  return await endInterruptedCheck(context, interrupted);
}

export interface LiveCheckFile {
  readonly mediaId: string;
  readonly media: PublicationMedia;
}

const CLAIM_CHECKS = 10;
const KEEP_DAYS = 30;
const DELETE_CHECKS = 1000;

/** Disposing ends the waits; posts are still deleted, by this process or the next one. */
export class LiveChecks implements AsyncDisposable {
  readonly #deps: LiveCheckDeps;
  readonly #stopping = new AbortController();
  readonly #running = new Map<rows.HeldCheck, Promise<void>>();

  constructor(deps: LiveCheckDeps) {
    this.#deps = deps;
    setMaxListeners(0, this.#stopping.signal);
  }

  /**
   * Starts a live check and returns its id.
   *
   * @throws ServiceError `publishing_held` when the data belongs to another deployment,
   *   `publishing_paused` while an operator's pause stops publishing.
   */
  async start(checked: CheckedAccount, file: LiveCheckFile | undefined): Promise<string> {
    const { guard } = this.#deps;
    if (!(await guard.isOwn())) throw conflict("publishing_held");
    const id = newId();
    // The last characters of an id are random, so the text of the post is unique.
    const text = liveCheckText(id.slice(-8));
    const { platform } = checked;
    const held = await this.#insert(checked, { id, text, mediaId: file?.mediaId });
    const media = file === undefined ? [] : [file.media];
    this.#run(held, async (stopping) => {
      const { id: accountId, workspaceId } = checked.account;
      const check = { ...held, platform, text, accountId, workspaceId };
      const context = createLiveCheckContext(this.#deps, check, checked, media, stopping);
      return await runLiveCheck(context);
    });
    return id;
  }

  async #insert(
    { account: { workspaceId, id: accountId }, platform }: CheckedAccount,
    check: Pick<rows.NewLiveCheck, "id" | "text" | "mediaId">,
  ): Promise<rows.HeldCheck> {
    const { sql, leaseMs } = this.#deps;
    const subject = { type: "account", id: accountId } as const;
    const details = { platform, liveCheckId: check.id };
    return await sql.begin(async (tx) => {
      const row = { ...check, workspaceId, accountId, platform };
      const held = await rows.insertLiveCheck(tx, row, leaseMs);
      if (held === undefined) throw conflict("publishing_paused");
      await appendAudit(tx, [{ action: "account.check_live", subject, workspaceId, details }]);
      return held;
    });
  }

  /** Renews, takes over and cleans up. Returns whether there may be more to do. */
  async pass(): Promise<boolean> {
    const { sql, guard, leaseMs } = this.#deps;
    await leases.renewLiveChecks(sql, [...this.#running.keys()], leaseMs);
    if (this.#stopping.signal.aborted || !(await guard.isOwn())) return false;
    const taken = await leases.claimInterruptedChecks(sql, { limit: CLAIM_CHECKS, leaseMs });
    for (const row of taken)
      this.#run(row, (stopping) => endInterruptedLiveCheck(this.#deps, row, stopping));
    const deleted = await leases.deleteOldLiveChecks(sql, {
      limit: DELETE_CHECKS,
      days: KEEP_DAYS,
    });
    return deleted === DELETE_CHECKS;
  }

  #run(held: rows.HeldCheck, work: (stopping: AbortSignal) => Promise<LiveCheckEnd>): void {
    const run = this.#runToEnd(held, work).finally(() => this.#running.delete(held));
    this.#running.set(held, run);
  }

  /** Makes a live check and records its end. After an error, the check counts as interrupted. */
  async #runToEnd(
    held: rows.HeldCheck,
    work: (stopping: AbortSignal) => Promise<LiveCheckEnd>,
  ): Promise<void> {
    const { sql, logger } = this.#deps;
    try {
      const end = await work(this.#stopping.signal);
      await (end === "ended" ? rows.endLiveCheck(sql, held) : leases.releaseLiveCheck(sql, held));
    } catch (error) {
      logger.warn(
        { err: error, liveCheckId: held.id },
        "a live check was interrupted by an error; the job keep-live-checks deletes its post and ends the check",
      );
      await leases.releaseLiveCheck(sql, held).catch(() => undefined);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#running.values());
  }
}
