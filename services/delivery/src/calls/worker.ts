import type { Credential } from "@postrider/contracts/accounts/v1/credential_service_pb";
import { createSendGuard, type Clocks, type SendGuard } from "@postrider/platforms/http/send-once";
import { failpoint } from "@postrider/shared/process/failpoints";
import type { LogFields, Logger } from "@postrider/shared/telemetry/logger";
import { inWorkContext } from "@postrider/shared/tracing/work-span";
import { fetchCredentials, type AccountRef, type AccountsClients } from "#src/clients/accounts.ts";
import type { CallEvent, CallOutcome } from "./call-event.ts";
import type { CallMarker, MarkResult } from "./call-marker.ts";
import type { MarkRequest } from "./marks.ts";

export type WorkEnd<E> =
  | { readonly kind: "learned"; readonly event: E }
  | { readonly kind: "release"; readonly delayMs: number }
  /** Everything is recorded, or another worker has claimed the call. */
  | { readonly kind: "done" };

export const DONE = { kind: "done" } as const;
export const RELEASE_NOW = { kind: "release", delayMs: 0 } as const;

/** Lost workers in a row, after which the call is given up before any other work. */
const MAX_CRASHES = 5;
/** Average wait for another open call that a search could not tell apart. */
const BUSY_MS = 250;
/** Average wait after one of our own services or the database did not answer. */
const BACK_OFF_MS = 1_000;

export const CRASHED = {
  kind: "given_up",
  code: "internal_error",
  message: "the process stopped repeatedly",
} as const;

export function isCrashLooping({ crashCount }: { readonly crashCount: number }): boolean {
  return crashCount >= MAX_CRASHES;
}

/** Returns a random wait, so that calls that failed together do not retry together. */
export function backOffMs(random: () => number): number {
  return BACK_OFF_MS * (0.5 + random());
}

interface SendContext<Key extends object, E, Reason extends string> {
  readonly deps: {
    readonly logger: Logger;
    readonly clocks: Clocks;
    readonly random: () => number;
  };
  readonly marker: CallMarker<Key, Reason>;
  readonly recorder: { readonly record: (event: E) => Promise<{ readonly isContinued: boolean }> };
  /** Aborted when the process stops: no call begins after that. */
  readonly stopping: AbortSignal;
}

export interface ReadyCall<Key extends object, E, Reason extends string> {
  readonly request: Key & MarkRequest;
  readonly callNumber: number;
  readonly send: (guard: SendGuard) => Promise<CallOutcome>;
  readonly toEvent: (event: CallEvent) => E;
  readonly unmarked: (reason: Reason | "missed") => CallEvent;
  readonly open?: () => Disposable;
  readonly ids: LogFields;
  /** What the names of the failpoints begin with after the step: "" or "action-". */
  readonly failpoints: string;
}

/** Also if held back at the last moment (`not_sent`). Its end is recorded. */
export interface Sent {
  readonly kind: "sent";
  readonly callNumber: number;
  readonly outcome: CallOutcome;
  /** Whether the worker keeps the call and repeats it with a newer access token. */
  readonly isContinued: boolean;
}

export async function sendCall<Key extends object, E, Reason extends string>(
  context: SendContext<Key, E, Reason>,
  ready: ReadyCall<Key, E, Reason>,
): Promise<WorkEnd<E> | Sent> {
  const { deps, stopping, recorder } = context;
  const { request, send, toEvent, failpoints } = ready;
  const { isForeignHost = false } = request;
  failpoint(`delivery.before-${failpoints}mark`);
  // The clocks are read before the database records that the call begins. So every delay from here
  // on shortens the time for the call.
  const guard = createSendGuard(deps.clocks, request.callMs);
  const mark = await markCall(context, ready);
  if (mark.kind !== "marked") return mark;
  using _open = ready.open?.();
  failpoint(`delivery.after-${failpoints}mark`);
  // A process that is stopping or was delayed does not send the call and releases it at once.
  const isStale = stopping.aborted || !guard.mayStillSend();
  const outcome: CallOutcome = isStale
    ? { kind: "not_sent" }
    : await withoutThrowing(deps.logger, ready.ids, () => send(guard));
  if (outcome.kind !== "not_sent") failpoint(`delivery.after-${failpoints}call`);
  const { callNumber } = mark;
  const event = toEvent({ kind: "called", callNumber, outcome, isForeignHost });
  const { isContinued } = await recorder.record(event);
  return { kind: "sent", callNumber, outcome, isContinued };
}

/** A thrown error does not tell what the platform did. An answer after the deadline counts too. */
async function withoutThrowing(
  logger: Logger,
  ids: LogFields,
  send: () => Promise<CallOutcome>,
): Promise<CallOutcome> {
  try {
    return await send();
  } catch (error) {
    logger.error(
      { err: error, ...ids },
      "a call to a platform ended with an unexpected error; it is not known whether the platform carried it out",
    );
    return { kind: "unknown", message: "internal error" };
  }
}

/**
 * Without an answer, the call may be marked but is not sent. This is reported as an event, because
 * otherwise the outcome of the call would later count as unknown.
 */
async function markCall<Key extends object, E, Reason extends string>(
  { deps, marker }: SendContext<Key, E, Reason>,
  { request, callNumber, toEvent, unmarked, ids }: ReadyCall<Key, E, Reason>,
): Promise<WorkEnd<E> | Extract<MarkResult<Reason>, { kind: "marked" }>> {
  const { fence, isForeignHost = false } = request;
  try {
    const result = await marker.mark(request);
    if (result.kind === "marked") return result;
    const { reason } = result;
    if (reason === "lost") return DONE;
    if (reason === "busy" || reason === "stopped")
      return { kind: "release", delayMs: BUSY_MS * (1 + deps.random()) };
    return { kind: "learned", event: toEvent(unmarked(reason)) };
  } catch (error) {
    deps.logger.warn(
      { err: error, ...ids },
      "the database did not answer whether a call to a platform may begin; the call was not sent and is tried again",
    );
    const next = callNumber + 1;
    const lost = { kind: "mark_lost", fence, callNumber: next, isForeignHost } as const;
    return { kind: "learned", event: toEvent(lost) };
  }
}

/** Work that throws an error releases its call. */
export async function endWork<E>(
  { logger, random }: { readonly logger: Logger; readonly random: () => number },
  {
    ids,
    run,
    record,
    release,
  }: {
    readonly ids: LogFields;
    readonly run: () => WorkEnd<E> | Promise<WorkEnd<E>>;
    readonly record: (event: E) => Promise<unknown>;
    readonly release: (delayMs: number) => Promise<void>;
  },
): Promise<void> {
  try {
    const end = await run();
    if (end.kind === "learned") await record(end.event);
    if (end.kind === "release") await release(end.delayMs);
  } catch (error) {
    logger.error(
      { err: error, ...ids },
      "the work on a call to a platform ended with an unexpected error; the call is released and tried again",
    );
    await release(backOffMs(random));
  }
}

type Caller = AccountRef & { readonly cause: Readonly<Record<string, string>> | null };

/**
 * Asks for the credentials of each workspace separately, because a workspace may run the server
 * that renews its tokens. Undefined if the accounts service does not answer.
 */
export function findCredentials(
  deps: { readonly accounts: AccountsClients; readonly logger: Logger },
  calls: readonly Caller[],
): readonly Promise<Credential | undefined>[] {
  const asked = [...Map.groupBy(calls, ({ workspaceId }) => workspaceId)].map(
    ([workspaceId, own]) => [workspaceId, askForCredentials(deps, own)] as const,
  );
  const answers = new Map(asked);
  return calls.map(async (call) => (await answers.get(call.workspaceId))?.get(call));
}

async function askForCredentials(
  { accounts, logger }: { readonly accounts: AccountsClients; readonly logger: Logger },
  calls: readonly Caller[],
): Promise<ReadonlyMap<Caller, Credential | undefined>> {
  try {
    const credentials = await inWorkContext(calls, () => fetchCredentials(accounts, calls));
    return new Map(calls.map((call, index) => [call, credentials[index]]));
  } catch (error) {
    logger.warn(
      { err: error, count: calls.length },
      "credentials for calls to platforms could not be fetched from the accounts service; the calls are tried again later",
    );
    return new Map();
  }
}

export async function settleWithin(work: Iterable<Promise<void>>, ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  AbortSignal.timeout(ms).addEventListener("abort", () => resolve(), { once: true });
  await Promise.race([Promise.all(work), promise]);
}
