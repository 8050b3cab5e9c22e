import type { ConnectRouter } from "@connectrpc/connect";
import { AccountService } from "@postrider/contracts/accounts/v1/account_service_pb";
import { CredentialService } from "@postrider/contracts/accounts/v1/credential_service_pb";
import { WorkspaceRemovalService } from "@postrider/contracts/accounts/v1/workspace_removal_service_pb";
import { DoctorService } from "@postrider/contracts/delivery/v1/doctor_service_pb";
import { MediaService } from "@postrider/contracts/media/v1/media_service_pb";
import { PostService } from "@postrider/contracts/posts/v1/post_service_pb";
import { TargetService } from "@postrider/contracts/posts/v1/target_service_pb";
import { limitForeignHosts } from "@postrider/platforms/http/foreign-hosts";
import { PROCESS_CLOCKS } from "@postrider/platforms/http/send-once";
import type { PlatformId } from "@postrider/platforms/platform-id";
import { createConnectors } from "@postrider/platforms/platforms";
import type { Bus } from "@postrider/shared/bus";
import { startConsumers } from "@postrider/shared/bus/consumer";
import type { Peer } from "@postrider/shared/connect/client";
import type { DeploymentGuard } from "@postrider/shared/deployment/guard";
import { newId } from "@postrider/shared/ids";
import type { Sql } from "@postrider/shared/postgres";
import { watchDisk } from "@postrider/shared/process/disk";
import { createLookCheck, type Check } from "@postrider/shared/process/health";
import { instanceId } from "@postrider/shared/process/instance";
import { disposeInOrder, together } from "@postrider/shared/process/lifecycle";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { endFormerLeases } from "#src/calls/table.ts";
import type { AccountsClients } from "#src/clients/accounts.ts";
import type { Config } from "#src/config.ts";
import { createMediaSource } from "#src/publishing/clients/media.ts";
import { PUBLISHING_HANDLERS } from "#src/publishing/consumers/index.ts";
import { DELETION_TABLE } from "#src/publishing/db/deletions.ts";
import { createHandleSealing } from "#src/publishing/db/handles.ts";
import { TASK_TABLE } from "#src/publishing/db/task-table.ts";
import { startAskForDetails } from "#src/publishing/jobs/ask-for-details.ts";
import { startClaimDeletions } from "#src/publishing/jobs/claim-deletions/claim-deletions.ts";
import { startClaimTasks } from "#src/publishing/jobs/claim-tasks/claim-tasks.ts";
import { startCountTasks } from "#src/publishing/jobs/count-tasks.ts";
import { startRemovingOldTargets } from "#src/publishing/jobs/remove-old-targets.ts";
import { startRemovingWorkspaceTargets } from "#src/publishing/jobs/remove-workspaces.ts";
import { startWatchDeployment } from "#src/publishing/jobs/watch-deployment.ts";
import { createDoctorService } from "#src/publishing/rpc/doctor-service.ts";
import { Spool } from "#src/publishing/storage/spool.ts";

interface PublishingOptions {
  readonly config: Config;
  readonly sql: Sql;
  readonly logger: Logger;
  readonly bus: Bus;
  readonly peers: { readonly posts: Peer; readonly accounts: Peer; readonly media: Peer };
  /**
   * Says whether this process may publish from the data in its database; it may not if the data
   * belongs to another deployment.
   */
  readonly guard: DeploymentGuard;
  readonly onEvents: () => void;
}

/** The consumer and the jobs that publish targets and delete published ones. */
export interface Publishing extends AsyncDisposable {
  readonly nudge: () => void;
  /** Fails when no look for publish tasks succeeded for 10 s; no other check notices that. */
  readonly check: Check;
}

function createAccountsClients(peer: Peer): AccountsClients {
  return { credentials: peer.client(CredentialService), accounts: peer.client(AccountService) };
}

function openMediaSource({ media, identity, role }: Config, peer: Peer) {
  const { mediaKey } = media;
  if (mediaKey === undefined) throw new Error(`a process with ROLE=${role} signs no URL of media`);
  const mediaService = peer.client(MediaService);
  return createMediaSource({ ...media, mediaKey, identity, mediaService });
}

/** If that fails, the tasks of an earlier process of this name wait for their leases. */
async function takeOverLeases(sql: Sql, owner: string, logger: Logger): Promise<void> {
  try {
    const ended = [TASK_TABLE, DELETION_TABLE].map((table) => endFormerLeases(sql, table, owner));
    const [tasks = 0, deletions = 0] = await Promise.all(ended);
    const count = tasks + deletions;
    if (count > 0)
      logger.info(
        { count },
        "the leases of an earlier process with this name were ended; its tasks can be claimed again",
      );
  } catch (err) {
    logger.warn(
      { err },
      "the leases of an earlier process with this name could not be ended; its tasks wait until the leases expire",
    );
  }
}

/** Disposing first stops claiming, then waits for the open platform calls. */
export async function startPublishing(options: PublishingOptions): Promise<Publishing> {
  const { config, sql, logger, bus, peers, guard, onEvents } = options;
  limitForeignHosts(config.outbound);
  const media = openMediaSource(config, peers.media);
  watchDisk("spool", config.spool.folder);
  const ownId = instanceId(config);
  if (ownId !== undefined) await takeOverLeases(sql, ownId, logger);
  const base = { sql, logger, guard, onEvents };
  const deps = {
    ...base,
    owner: ownId ?? newId(),
    connectors: createConnectors("publishing", config.platforms),
    posts: peers.posts.client(TargetService),
    accounts: createAccountsClients(peers.accounts),
    media,
    spool: new Spool(config.spool),
    sealing: createHandleSealing(config.handleKeys),
    settings: config.publishing,
    clocks: PROCESS_CLOCKS,
    random: Math.random,
    openPermalink: (platform: PlatformId) => openerOf(config, platform),
  };
  const claims = startClaimTasks(deps);
  const deletions = startClaimDeletions(deps);
  const jobs = [
    startAskForDetails(deps),
    startWatchDeployment(base),
    startCountTasks(sql, logger),
    ...startRemovals(peers, base),
  ];
  const nudge = (): void => {
    claims.nudge();
    deletions.nudge();
  };
  const consumers = await startConsumers(
    { bus, sql, logger, group: config.service, onCommitted: nudge },
    PUBLISHING_HANDLERS,
  );
  return {
    nudge,
    check: createLookCheck("tasks", () => claims.claimAgeMs()),
    [Symbol.asyncDispose]: () =>
      disposeInOrder([together([...jobs, deletions, claims, ...consumers]), media]),
  };
}

/** The jobs that remove what is stored about posts and workspaces that no longer exist. */
function startRemovals(
  { posts, accounts }: PublishingOptions["peers"],
  deps: { readonly sql: Sql; readonly logger: Logger },
): readonly AsyncDisposable[] {
  const workspaces = accounts.client(WorkspaceRemovalService);
  return [
    startRemovingOldTargets({ ...deps, posts: posts.client(PostService) }),
    startRemovingWorkspaceTargets(deps, {
      list: () => workspaces.listWorkspaceRemovals({}),
      report: (report) => workspaces.reportWorkspaceRemoval(report),
    }),
  ];
}

type DoctorOptions = Pick<PublishingOptions, "config" | "sql" | "guard"> & {
  readonly peers: Pick<PublishingOptions["peers"], "accounts" | "media">;
};

export function createDoctor({ config, sql, peers, guard }: DoctorOptions) {
  limitForeignHosts(config.outbound);
  const service = createDoctorService({
    sql,
    guard,
    accounts: createAccountsClients(peers.accounts),
    media: peers.media.client(MediaService),
    checks: createConnectors("diagnosis", config.platforms),
  });
  return (router: ConnectRouter): void => void router.service(DoctorService, service);
}

/**
 * A simulated platform is reached without https. Its permalinks point to the real platform, which
 * does not have the posts, so they are not opened.
 */
function openerOf({ platforms }: Config, platform: PlatformId) {
  return platforms[platform].baseUrl.startsWith("https:") ? openPermalink : undefined;
}

/** Requests the address of a post like a reader who is not logged in. */
async function openPermalink(permalink: string, signal: AbortSignal): Promise<number> {
  const answer = await fetch(permalink, { signal });
  await answer.body?.cancel();
  return answer.status;
}
