import { setTimeout as sleep } from "node:timers/promises";
import type { Account } from "@postrider/contracts/accounts/v1/account_pb";
import {
  DoctorService,
  type GetLiveCheckResponse,
} from "@postrider/contracts/delivery/v1/doctor_service_pb";
import { ServiceError } from "@postrider/shared/errors";
import { findText, type Arguments, type Result, type Terminal } from "#src/command.ts";
import { CommandFailure, toFailure } from "#src/failures.ts";
import type { Services } from "#src/services.ts";

/** Interval in milliseconds at which the tool asks for new steps. */
const POLL_MS = 500;
/** Time in milliseconds without a new step after which the process that makes the check has probably ended. */
const SILENCE_MS = 300_000;

/** What the tool knows about a live check; without `state`, delivery has not answered yet. */
interface Known {
  readonly id: string;
  readonly platform: string;
  readonly state?: GetLiveCheckResponse;
}

/** Why a live check could not start, and what to do, by the code of the fault. */
const REASONS: Readonly<Record<string, string>> = {
  public_post:
    "this platform has no post that only the owner sees: readers would see the post until it is deleted. Repeat the command with --public if that is acceptable",
  media_required:
    "this platform takes no posts of text: give --media with the id of a picture or a video",
  video_required: "this platform takes only videos: give --media with the id of a video",
  media_rejected: "the platform does not take this picture: give --media with another one",
  publishing_paused:
    "publishing is paused for the platform, the account or the workspace; see `postrider pauses`",
  publishing_held:
    "publishing is stopped because the data was restored or copied; see `postrider recovery status`",
  account_reconnect_required: "the account must be connected again first",
};

function explain(error: unknown): unknown {
  if (!(error instanceof ServiceError)) return error;
  if (error.kind === "unavailable" || error.kind === "timeout")
    return new CommandFailure(
      "live_check_lost",
      `${toFailure(error, "delivery").message}; the check may have started: look on the platform for a post that begins with “Postrider check”`,
    );
  const code = error.violations[0]?.code ?? error.reason;
  const message = REASONS[code];
  return message === undefined ? error : new CommandFailure(code, message);
}

async function confirm(
  args: Arguments,
  terminal: Terminal,
  { platform, username }: Account,
): Promise<void> {
  if (args.values.yes === true) return;
  const answer = await terminal.readLine(
    `Publish one post as ${username} on ${platform} and delete it again? Type "yes"`,
  );
  if (answer !== "yes") throw new CommandFailure("not_confirmed", "nothing was published");
}

/** Says what the live check has left on the platform, or may have left; undefined = nothing. */
function describeRest({ platform, state, id }: Known): string | undefined {
  if (state === undefined)
    return `it is not known whether a post is on ${platform}: look for “Postrider check ${id.slice(-8)}”`;
  const { externalId, permalink, calledAt, endedAt, steps, text } = state;
  if (externalId !== undefined)
    return `the post ${externalId}${permalink === undefined ? "" : ` (${permalink})`} is left on ${platform}: delete it by hand`;
  if (steps.some(({ name, status }) => name === "delete it" && status === "ok")) return undefined;
  const isOver = endedAt !== undefined;
  const wasSent = calledAt !== undefined && !wasRefused(state);
  if (isOver && !wasSent) return undefined;
  return `a post may be left on ${platform}: look for “${text}”`;
}

/** Whether the publishing call ended without a post: a check that goes on after it reads the post back. */
function wasRefused({ steps, endedAt }: GetLiveCheckResponse): boolean {
  const last = steps.at(-1);
  return endedAt !== undefined && last?.name === "publish" && last.status === "failed";
}

function toStepText({ name, status, found }: GetLiveCheckResponse["steps"][number]): string {
  return `${status.padEnd(7)}  ${name}: ${found}`;
}

/** Prints the steps as they end, until the check ends, and returns its last known state. */
async function follow(services: Services, terminal: Terminal, known: Known): Promise<Known> {
  const client = services.client("delivery", DoctorService);
  let latest = known;
  let silentSince = performance.now();
  while (performance.now() - silentSince < SILENCE_MS) {
    const before = latest.state?.steps.length ?? 0;
    const state = await client.getLiveCheck({ id: known.id }).catch((error: unknown) => {
      // The caller says what is left on the platform as far as it is known.
      throw new LostCheck(latest, error);
    });
    latest = { ...known, state };
    for (const step of state.steps.slice(before)) {
      silentSince = performance.now();
      const { name, status, found, tookMs } = step;
      terminal.note({ json: { name, status, found, tookMs }, text: toStepText(step) });
    }
    if (state.endedAt !== undefined) return latest;
    await sleep(POLL_MS);
  }
  throw new LostCheck(latest, new Error("the check has made no step for 5 minutes"));
}

/** The tool can no longer follow a live check. */
class LostCheck extends Error {
  override name = "LostCheck";
  readonly known: Known;

  constructor(known: Known, cause: unknown) {
    super("the live check can no longer be followed", { cause });
    this.known = known;
  }

  toFailure(): CommandFailure {
    const { message } = toFailure(this.cause, "delivery");
    const rest = describeRest(this.known) ?? "no post is left on the platform";
    return new CommandFailure(
      "live_check_lost",
      `${message}; the check ${this.known.id} may still run and delete its post. As far as it is known, ${rest}`,
    );
  }
}

function toResult(known: Known): Result {
  const { id, state } = known;
  const steps = (state?.steps ?? []).map(({ name, status, found, tookMs }) => ({
    name,
    status,
    found,
    tookMs,
  }));
  const rest = describeRest(known);
  const failed = steps.filter(({ status }) => status === "failed").length;
  const warnings = steps.filter(({ status }) => status === "warning").length;
  const left = {
    externalId: state?.externalId ?? null,
    permalink: state?.permalink ?? null,
    message: rest ?? null,
  };
  const summary = `${steps.length} steps: ${failed} failed, ${warnings} warnings`;
  return {
    json: { ok: failed === 0, id, failed, warnings, steps, left },
    text: `\n${summary}; ${rest ?? `nothing is left on ${known.platform}`}`,
    exitCode: failed === 0 ? 0 : 1,
  };
}

/** Makes a round trip with one post on the platform of an account, and prints each step when it has ended. */
export async function checkLive(
  services: Services,
  args: Arguments,
  terminal: Terminal,
  account: Account,
): Promise<Result> {
  const { workspaceId, id: accountId, platform } = account;
  await confirm(args, terminal, account);
  const client = services.client("delivery", DoctorService);
  const allowPublic = args.values.public === true;
  const mediaId = findText(args, "media") ?? "";
  const request = { workspaceId, accountId, allowPublic, mediaId };
  const { id } = await client.startLiveCheck(request).catch((error: unknown) => {
    throw explain(error);
  });
  try {
    return toResult(await follow(services, terminal, { id, platform }));
  } catch (error) {
    throw error instanceof LostCheck ? error.toFailure() : error;
  }
}
