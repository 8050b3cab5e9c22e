import { setTimeout as sleep } from "node:timers/promises";
import type {
  LiveCheckContext,
  LiveCheckJournal,
} from "@postrider/platforms/diagnosis/live/check-context";
import type { LeastVisible } from "@postrider/platforms/diagnosis/live/least-visible";
import { createSendGuard, type Clocks } from "@postrider/platforms/http/send-once";
import type { PlatformId } from "@postrider/platforms/platform-id";
import type { Connectors } from "@postrider/platforms/platforms";
import type { PublicationMedia } from "@postrider/platforms/publishing/publication";
import { PLATFORM_FACTS } from "@postrider/platforms/registry";
import { parseSettings } from "@postrider/platforms/settings/read-settings";
import type { DeploymentGuard } from "@postrider/shared/deployment/guard";
import type { Sql } from "@postrider/shared/postgres";
import type { Logger } from "@postrider/shared/telemetry/logger";
import type { AccountsClients } from "#src/clients/accounts.ts";
import { findOwnedIds } from "#src/publishing/db/attempts.ts";
import * as rows from "#src/publishing/db/live-checks.ts";
import type { CheckedAccount } from "./account-diagnosis.ts";
import type { FindLiveCheckFile } from "./live-check-files.ts";

export interface LiveCheckDeps {
  readonly sql: Sql;
  readonly logger: Logger;
  readonly guard: Pick<DeploymentGuard, "isOwn">;
  readonly accounts: AccountsClients;
  readonly findFile: FindLiveCheckFile;
  readonly connectors: Connectors<"livePublishing">;
  readonly clocks: Clocks;
  /** Lease of a live check in milliseconds, after which another process ends the check. */
  readonly leaseMs: number;
  readonly visibleCallMs: number;
  /** Maximum time in milliseconds that a step of a live check waits for the platform. */
  readonly patienceMs: number;
  readonly findOpener: (platform: PlatformId) => LiveCheckContext["openPermalink"];
}

export interface RunningCheck extends rows.HeldCheck {
  readonly platform: PlatformId;
  readonly accountId: string;
  readonly workspaceId: string;
  readonly text: string;
}

/** One per second, while the database does not answer. */
const KEEP_ATTEMPTS = 30;
/** Before the next try to begin, while a task of the account is in work. */
const BUSY_MS = 250;
/**
 * Maximum number of tries of a live check to begin its call while tasks of the account are in work.
 */
const BEGIN_ATTEMPTS = 240;

/** Insists, because the post's id is stored nowhere else. */
async function keepPost(sql: Sql, id: string, post: Parameters<typeof rows.keepLivePost>[2]) {
  for (let attempt = 1; ; attempt += 1)
    try {
      await rows.keepLivePost(sql, id, post);
      return;
    } catch (error) {
      if (attempt === KEEP_ATTEMPTS) throw error;
      await sleep(1000);
    }
}

type BegunCall = Awaited<ReturnType<LiveCheckJournal["beginCall"]>>;

const REFUSED: BegunCall = {
  kind: "refused",
  message: "publishing was paused, the process stops, or another process has taken over",
};
const BUSY: BegunCall = {
  kind: "refused",
  message: "other posts of the account are being published; repeat the check later",
};

async function beginCall(
  { sql, guard, clocks, visibleCallMs }: LiveCheckDeps,
  check: RunningCheck,
  stopping: AbortSignal,
): Promise<BegunCall> {
  for (let attempt = 1; attempt <= BEGIN_ATTEMPTS; attempt += 1) {
    const mayPublish = !stopping.aborted && (await guard.isOwn());
    if (!mayPublish) return REFUSED;
    const sendGuard = createSendGuard(clocks, visibleCallMs);
    const calledAt = await sql.begin((tx) => rows.beginLiveCall(tx, check, visibleCallMs));
    if (calledAt === undefined) return REFUSED;
    if (calledAt !== "busy") {
      const callUntil = new Date(calledAt.getTime() + visibleCallMs);
      return { kind: "granted", guard: sendGuard, calledAt, callUntil };
    }
    await sleep(BUSY_MS);
  }
  return BUSY;
}

function openJournal(
  deps: LiveCheckDeps,
  check: RunningCheck,
  stopping: AbortSignal,
): LiveCheckJournal {
  const { sql } = deps;
  return {
    addStep: (step) => rows.addLiveCheckStep(sql, check, step),
    keepPost: (post) => keepPost(sql, check.id, post),
    dropPost: () => rows.dropLivePost(sql, check.id),
    beginCall: () => beginCall(deps, check, stopping),
  };
}

export function createLiveCheckContext(
  deps: LiveCheckDeps,
  check: RunningCheck,
  { account, credential }: CheckedAccount,
  media: readonly PublicationMedia[],
  stopping: AbortSignal,
): LiveCheckContext {
  const { sql, connectors, patienceMs, findOpener } = deps;
  const { id, platform, text } = check;
  const { externalId, username, accessToken, attributes } = credential;
  const post: LeastVisible = PLATFORM_FACTS[platform].liveCheck;
  return {
    connector: connectors[platform],
    publication: {
      targetId: id,
      text,
      title: `Postrider check ${id.slice(-8)}`,
      privacy: post.privacy,
      tags: [],
      externalId,
      username,
      accessToken,
      attributes,
      media,
      settings: parseSettings(account.settings),
    },
    post,
    journal: openJournal(deps, check, stopping),
    isOwned: (externalIds) =>
      findOwnedIds(
        sql,
        { platform, accountId: account.id, externalAccountId: externalId },
        externalIds,
      ),
    openPermalink: findOpener(platform),
    patienceMs,
    stopping,
  };
}
