import { setTimeout as sleep } from "node:timers/promises";
import type { Account } from "@postrider/contracts/accounts/v1/account_pb";
import {
  DoctorService,
  type GetLiveCheckResponse,
} from "@postrider/contracts/delivery/v1/doctor_service_pb";
import { isUnanswered, ServiceError } from "@postrider/shared/errors";
import { type Arguments, findText, type Result, type Terminal } from "#src/command.ts";
import { countOf } from "#src/doctor/findings.ts";
import { confirmLiveCheck, REASONS } from "#src/doctor/live-question.ts";
import { CommandFailure, toFailure } from "#src/failures.ts";
import type { Services } from "#src/services.ts";

interface KnownCheck {
  readonly id: string;
  readonly platform: string;
  readonly state?: GetLiveCheckResponse;
}

/** Says which post the live check left, or may have left, on the platform; undefined = none. */
function describeRest({ platform, state, id }: KnownCheck): string | undefined {
  if (state === undefined)
    return `it is not known whether a post is on ${platform}: look for “Postrider check ${id.slice(-8)}”`;
  const { externalId, permalink, mayBeLeft, text } = state;
  if (externalId !== undefined)
    return `the post ${externalId}${permalink === undefined ? "" : ` (${permalink})`} is left on ${platform}: delete it by hand`;
  return mayBeLeft
    ? `a post may be left on ${platform}: look for “${text}” and delete it by hand`
    : undefined;
}

interface Patience {
  readonly pollMs: number;
  /** Without a new step. Longer than a restart of delivery, and than the search for a lost post. */
  readonly silenceMs: number;
}

const PATIENCE: Patience = { pollMs: 500, silenceMs: 300_000 };

function explain(error: unknown): unknown {
  if (!(error instanceof ServiceError)) return error;
  if (isUnanswered(error))
    return new CommandFailure(
      "live_check_lost",
      `${toFailure(error, "delivery").message}; the check may have started: look on the platform for a post that begins with “Postrider check”`,
    );
  const code = error.violations[0]?.code ?? error.reason;
  const message = REASONS[code];
  return message === undefined ? error : new CommandFailure(code, message);
}

type Step = GetLiveCheckResponse["steps"][number];

function toStepJson({ name, status, found, tookMs }: Step) {
  return { name, status, found, tookMs };
}

function toStepText({ name, status, found }: Step): string {
  return `${status.padEnd(7)}  ${name}: ${found}`;
}

const WAITING = {
  json: { name: "wait", status: "warning", found: "delivery does not answer", tookMs: 0 },
  text: "         delivery does not answer; when it does, it continues the check and deletes its post",
};

async function findState(services: Services, known: KnownCheck): Promise<KnownCheck["state"]> {
  try {
    return await services.client("delivery", DoctorService).getLiveCheck({ id: known.id });
  } catch (error) {
    if (isUnanswered(error)) return undefined;
    // The message of a `LostCheck` also says which post may be left on the platform.
    throw new LostCheck(known, toFailure(error, "delivery").message);
  }
}

function printSteps(terminal: Terminal, before: KnownCheck, state: KnownCheck["state"]): boolean {
  const fresh = state?.steps.slice(before.state?.steps.length ?? 0) ?? [];
  for (const step of fresh) terminal.note({ json: toStepJson(step), text: toStepText(step) });
  return fresh.length > 0;
}

/** Prints each step when it has ended; returns the last known state. */
async function follow(
  services: Services,
  terminal: Terminal,
  known: KnownCheck,
  { pollMs, silenceMs }: Patience,
): Promise<KnownCheck> {
  let latest = known;
  let isWaiting = false;
  let silentSince = performance.now();
  while (performance.now() - silentSince < silenceMs) {
    const state = await findState(services, latest);
    if (state === undefined && !isWaiting) terminal.note(WAITING);
    isWaiting = state === undefined;
    if (printSteps(terminal, latest, state)) silentSince = performance.now();
    if (state !== undefined) latest = { ...known, state };
    if (state?.endedAt !== undefined) return latest;
    await sleep(pollMs);
  }
  const minutes = Math.round(silenceMs / 60_000);
  const why = isWaiting ? "delivery does not answer" : "the check has made no step";
  throw new LostCheck(latest, `${why} for ${minutes} minutes`);
}

class LostCheck extends Error {
  override name = "LostCheck";
  readonly known: KnownCheck;

  constructor(known: KnownCheck, message: string) {
    super(message);
    this.known = known;
  }

  toFailure(): CommandFailure {
    const rest = describeRest(this.known) ?? "no post is left on the platform";
    return new CommandFailure(
      "live_check_lost",
      `${this.message}; the check ${this.known.id} may still run and delete its post. As far as it is known, ${rest}`,
    );
  }
}

function toResult(known: KnownCheck): Result {
  const { id, state } = known;
  const steps = (state?.steps ?? []).map(toStepJson);
  const rest = describeRest(known);
  const failed = steps.filter(({ status }) => status === "failed").length;
  const warnings = steps.filter(({ status }) => status === "warning").length;
  const left = {
    externalId: state?.externalId ?? null,
    permalink: state?.permalink ?? null,
    message: rest ?? null,
  };
  const summary = `${countOf(steps.length, "step")}: ${failed} failed, ${countOf(warnings, "warning")}`;
  return {
    json: { ok: failed === 0, id, failed, warnings, steps, left },
    text: `\n${summary}; ${rest ?? `nothing is left on ${known.platform}`}`,
    exitCode: failed === 0 ? 0 : 1,
  };
}

/**
 * Publishes, reads and deletes one post on the platform of an account, and prints each step when it
 * has ended.
 */
export async function checkLive(
  services: Services,
  args: Arguments,
  terminal: Terminal,
  account: Account,
  patience = PATIENCE,
): Promise<Result> {
  const { workspaceId, id: accountId, platform } = account;
  await confirmLiveCheck(args, terminal, account);
  const client = services.client("delivery", DoctorService);
  const allowPublic = args.values.public === true;
  const mediaId = findText(args, "media") ?? "";
  const request = { workspaceId, accountId, allowPublic, mediaId };
  const { id } = await client.startLiveCheck(request).catch((error: unknown) => {
    throw explain(error);
  });
  try {
    return toResult(await follow(services, terminal, { id, platform }, patience));
  } catch (error) {
    throw error instanceof LostCheck ? error.toFailure() : error;
  }
}
