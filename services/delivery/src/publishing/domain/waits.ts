import type { TargetErrorCode } from "@postrider/platforms/publishing/outcome";

/** What holds publishing back, of which the first that applies is shown. */
export interface WaitCauses {
  /** The data of the installation is a copy, or was restored. */
  readonly isDeploymentHeld: boolean;
  readonly pauses: readonly {
    readonly kind: "platform" | "account" | "workspace";
    readonly key: string;
    readonly reason: string | null;
    readonly createdAt: Date;
  }[];
  readonly platforms: readonly HeldPlatform[];
  readonly limits: readonly UsedUpPlatform[];
  readonly accounts: readonly LimitedAccount[];
}

/** It left several calls in a row without an answer. */
export interface HeldPlatform {
  readonly platform: string;
  readonly heldSince: Date;
  readonly probeAt: Date | null;
}

/** A limit of our app at the platform is used up. */
export interface UsedUpPlatform {
  readonly platform: string;
  readonly until: Date;
  readonly message: string;
}

/** The account reached a limit, or failed several times in a row. */
export interface LimitedAccount {
  readonly accountId: string;
  readonly until: Date;
}

interface Place {
  readonly workspaceId: string;
  readonly accountId: string;
  readonly platform: string;
}

export interface Wait {
  readonly kind:
    | "pause"
    | "held_platform"
    | "platform_limit"
    | "held_account"
    | "next_attempt"
    | "outcome";
  readonly until: Date | null;
  readonly pause?: "platform" | "account" | "workspace" | "deployment";
  readonly reason?: string;
}

const withReason = (reason: string | null) => (reason === null || reason === "" ? {} : { reason });

/** Which of the causes applies to an account: what lasts longest or needs a person comes first. */
function waitByCause(
  causes: WaitCauses,
  { workspaceId, accountId, platform }: Place,
): Wait | undefined {
  if (causes.isDeploymentHeld) return { kind: "pause", pause: "deployment", until: null };
  const keys = { workspace: workspaceId, account: accountId, platform };
  const pause = causes.pauses.find(({ kind, key }) => keys[kind] === key);
  if (pause !== undefined)
    return { kind: "pause", pause: pause.kind, until: null, ...withReason(pause.reason) };
  const held = causes.platforms.find((each) => each.platform === platform);
  if (held !== undefined) return { kind: "held_platform", until: held.probeAt };
  return waitByLimit(causes, { accountId, platform });
}

function waitByLimit(
  causes: WaitCauses,
  { accountId, platform }: Pick<Place, "accountId" | "platform">,
): Wait | undefined {
  const limit = causes.limits.find((each) => each.platform === platform);
  if (limit !== undefined)
    return { kind: "platform_limit", until: limit.until, ...withReason(limit.message) };
  const account = causes.accounts.find((each) => each.accountId === accountId);
  return account === undefined ? undefined : { kind: "held_account", until: account.until };
}

const LIMITS: ReadonlySet<string | null> = new Set<TargetErrorCode>([
  "rate_limited",
  "platform_quota",
]);

interface WaitingTask extends Place {
  readonly status: string;
  readonly errorCode: string | null;
  readonly wakeAt: Date;
  readonly isDue: boolean;
}

/**
 * Undefined for a task that is in work, has ended, or waits for nothing but its turn. One that
 * failed at a limit has the limit, as long as it lasts: until then a retry would wait.
 */
export function waitOf(causes: WaitCauses, task: WaitingTask): Wait | undefined {
  if (task.status === "failed")
    return LIMITS.has(task.errorCode) ? waitByLimit(causes, task) : undefined;
  if (task.status === "unknown" || task.status === "reconciling")
    return { kind: "outcome", until: task.isDue ? null : task.wakeAt };
  if (task.status !== "queued") return undefined;
  const next = task.isDue ? undefined : ({ kind: "next_attempt", until: task.wakeAt } as const);
  return waitByCause(causes, task) ?? next;
}
