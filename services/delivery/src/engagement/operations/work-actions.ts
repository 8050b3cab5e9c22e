import type { Credential } from "@postrider/contracts/accounts/v1/credential_service_pb";
import { failpoint } from "@postrider/shared/process/failpoints";
import { inWorkContext, inWorkSpan } from "@postrider/shared/tracing/work-span";
import { fetchCredentials } from "#src/clients/accounts.ts";
import { releaseAction, type ClaimedAction } from "#src/engagement/db/action-claims.ts";
import type { ActionErrorCode } from "#src/engagement/domain/comment-action.ts";
import type { ActionContext } from "./action-context.ts";
import { findCalls } from "./call-connector.ts";
import { lookForReply } from "./look-for-reply.ts";
import { sendAction, type ActionEnd } from "./send-action.ts";

/** Number of times in a row that the worker of an action can be lost before the action is given up. */
const MAX_CRASHES = 5;
/**
 * Average time in milliseconds after which an action is tried again, when the accounts service or the database did not answer.
 */
const BACK_OFF_MS = 1_000;

/**
 * Works on claimed actions concurrently, each to the end of its current try. It never throws: an action that cannot be released is
 * claimed again when its lease ends.
 *
 * @param onEnd Called once per action, when the work on it ends.
 */
export async function workActions(
  context: ActionContext,
  actions: readonly ClaimedAction[],
  onEnd: () => void,
): Promise<void> {
  failpoint("delivery.after-action-claim");
  const credentials = await findCredentials(context, actions);
  await Promise.all(
    actions.map(async (action, index) => {
      await inActionSpan(action, () => workAction(context, action, credentials[index]));
      onEnd();
    }),
  );
}

function inActionSpan<T>(action: ClaimedAction, work: () => Promise<T>): Promise<T> {
  const attributes = { "postrider.action.id": action.id, "postrider.action.type": action.type };
  return inWorkSpan("carry out comment action", action, attributes, work);
}

/** Returns the access tokens in the order of the actions; empty if the accounts service does not answer. */
async function findCredentials(
  { deps }: ActionContext,
  actions: readonly ClaimedAction[],
): Promise<readonly Credential[]> {
  try {
    return await inWorkContext(actions, () => fetchCredentials(deps.accounts, actions));
  } catch (error) {
    deps.logger.warn(
      { err: error, count: actions.length },
      "the credentials for comment actions could not be fetched from the accounts service; the actions are tried again in about 1 s",
    );
    return [];
  }
}

/** Carries out one action and records the result. If the work throws an error, the action is released. */
async function workAction(
  context: ActionContext,
  action: ClaimedAction,
  credential: Credential | undefined,
): Promise<void> {
  const { logger, random } = context.deps;
  const backOffMs = BACK_OFF_MS * (0.5 + random());
  try {
    const end = await carryOut(context, action, credential ?? backOffMs);
    if (end.kind === "learned") await context.recorder.record(end.event);
    if (end.kind === "release") await release(context, action, end.delayMs);
  } catch (error) {
    logger.error(
      { err: error, actionId: action.id },
      "the work on a comment action ended with an unexpected error; the action is tried again",
    );
    await release(context, action, backOffMs);
  }
}

/**
 * @param credential The account's credential. If it could not be fetched: the milliseconds after which the action is
 * tried again.
 */
async function carryOut(
  context: ActionContext,
  action: ClaimedAction,
  credential: Credential | number,
): Promise<ActionEnd> {
  const { connectors, settings } = context.deps;
  if (action.crashCount >= MAX_CRASHES)
    return giveUp(action, "internal_error", "the process stopped repeatedly");
  if (typeof credential === "number") return { kind: "release", delayMs: credential };
  const calls = findCalls(connectors, action);
  if (calls === undefined)
    return giveUp(action, "internal_error", "the platform does not offer the action any more");
  if (action.status === "reconciling")
    return await lookForReply(context, action, { calls, credential });
  if (action.type === "private_reply" && !settings.isSendingEnabled)
    return giveUp(action, "sending_blocked", "the operator does not allow private replies");
  return await sendAction(context, action, { calls, credential });
}

function giveUp({ id, fence }: ClaimedAction, code: ActionErrorCode, message: string): ActionEnd {
  return { kind: "learned", event: { id, kind: "given_up", fence, code, message } };
}

async function release(
  { deps }: ActionContext,
  action: ClaimedAction,
  delayMs: number,
): Promise<void> {
  try {
    await releaseAction(deps.sql, action, delayMs);
  } catch (error) {
    deps.logger.warn(
      { err: error, actionId: action.id },
      "a comment action could not be released; it can be claimed again when its lease ends",
    );
  }
}
