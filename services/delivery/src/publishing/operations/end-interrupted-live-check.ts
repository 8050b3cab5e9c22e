import type { LiveCheckEnd } from "@postrider/platforms/diagnosis/live/check-context";
import { DELETE_STEP } from "@postrider/platforms/diagnosis/live/delete-steps";
import {
  describeInterruption,
  endInterruptedCheck,
  INTERRUPTION,
  mayHaveLeftPost,
  type InterruptedCheck,
} from "@postrider/platforms/diagnosis/live/end-interrupted-check";
import type { PublicationMedia } from "@postrider/platforms/publishing/publication";
import { PLATFORM_FACTS } from "@postrider/platforms/registry";
import { isUnanswered, ServiceError } from "@postrider/shared/errors";
import type { InterruptedRow } from "#src/publishing/db/live-check-leases.ts";
import { addLiveCheckStep } from "#src/publishing/db/live-checks.ts";
import { getCheckedAccount, type CheckedAccount } from "./account-diagnosis.ts";
import { createLiveCheckContext, type LiveCheckDeps } from "./live-check-context.ts";

/**
 * Number of interruptions of a live check after which Postrider does not delete the check's post, because the deletion
 * may be what crashes processes. The operator must then delete the post.
 */
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

/** Returns the account; undefined if it is unknown or disconnected. */
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
 * Ends a live check whose process ended before the check did: deletes the post that the check may have left.
 *
 * @returns `interrupted` if this process stops too; another process must then continue.
 * @throws ServiceError when the accounts or the media service does not answer; the check is tried again after its
 *   lease.
 */
export async function endInterruptedLiveCheck(
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
