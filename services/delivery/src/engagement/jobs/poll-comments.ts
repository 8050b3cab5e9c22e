import type { PlatformId } from "@postrider/platforms/platform-id";
import { failpoint } from "@postrider/shared/process/failpoints";
import { startLoop } from "@postrider/shared/process/loop";
import { claimAccounts, type PolledAccount } from "#src/engagement/db/automation-accounts.ts";
import { storeSending } from "#src/engagement/db/automation-sending.ts";
import type { AutomationDeps } from "#src/engagement/operations/automation-dependencies.ts";
import {
  pollDuration,
  pollLateness,
  sendingEnabled,
} from "#src/engagement/operations/automation-metrics.ts";
import { pollAccount } from "#src/engagement/operations/poll-account.ts";

/** Interval in milliseconds at which a process looks for accounts that are due to be polled. */
const LOOK_MS = 1_000;
/**
 * Maximum number of accounts of one platform that a process polls at a time. It is below the number of connections to one host,
 * so that a platform that does not answer polls leaves connections for publishing, and no platform delays another.
 */
const MAX_POLLS_PER_PLATFORM = 12;

/** The job that polls accounts with active automation rules for new comments. Disposing of it waits for polls in progress. */
export interface CommentPolls extends AsyncDisposable {
  /** Makes the job look now for accounts that are due to be polled. */
  readonly nudge: () => void;
  /** Milliseconds since this process last looked for due accounts without an error. */
  claimAgeMs(): number;
}

/** Starts to poll accounts with active automation rules for new comments. */
export function startPollComments(deps: AutomationDeps): CommentPolls {
  const running = new Map<string, Promise<void>>();
  const counts = new Map<PlatformId, number>();
  const free = (platform: PlatformId) => MAX_POLLS_PER_PLATFORM - (counts.get(platform) ?? 0);
  const begin = (platform: PlatformId, account: PolledAccount): void => {
    counts.set(platform, (counts.get(platform) ?? 0) + 1);
    const key = `${account.accountId} ${account.fence}`;
    const polled = poll(deps, account).finally(() => {
      counts.set(platform, (counts.get(platform) ?? 0) - 1);
      running.delete(key);
      loop.nudge();
    });
    running.set(key, polled);
  };
  let lookedAt = performance.now();
  const loop = startLoop({
    idleMs: Math.min(LOOK_MS, deps.settings.commentPollMs),
    work: async () => {
      await claimDue(deps, free, begin);
      lookedAt = performance.now();
      return false;
    },
    onError: (error) =>
      deps.logger.warn(
        { err: error, job: "poll-comments" },
        "accounts could not be claimed for polling new comments; the job tries again",
      ),
  });
  return {
    nudge: loop.nudge,
    claimAgeMs: () => performance.now() - lookedAt,
    [Symbol.asyncDispose]: async () => {
      await loop[Symbol.asyncDispose]();
      await Promise.all(running.values());
    },
  };
}

async function claimDue(
  deps: AutomationDeps,
  free: (platform: PlatformId) => number,
  begin: (platform: PlatformId, account: PolledAccount) => void,
): Promise<void> {
  const { sql, guard, settings, connectors } = deps;
  if (!(await guard.isOwn())) return;
  await storeSending(sql, settings.isSendingEnabled);
  sendingEnabled.set(settings.isSendingEnabled ? 1 : 0);
  for (const { platform } of Object.values(connectors.privateReplies)) {
    const limit = free(platform);
    if (limit <= 0) continue;
    const claim = { platform, limit, leaseMs: settings.leaseMs };
    for (const { latenessMs, ...account } of await claimAccounts(sql, claim)) {
      pollLateness.observe(latenessMs / 1000);
      begin(platform, account);
    }
  }
}

async function poll(deps: AutomationDeps, account: PolledAccount): Promise<void> {
  failpoint("delivery.after-poll-claim");
  const startedAt = performance.now();
  try {
    await pollAccount(deps, account);
  } catch (error) {
    const { accountId, platform } = account;
    deps.logger.warn(
      { err: error, accountId, platform },
      "the result of a poll for new comments of an account could not be stored; the account is polled again when the lease of this poll ends",
    );
  }
  const { platform } = account;
  pollDuration.observe({ platform }, (performance.now() - startedAt) / 1000);
}
