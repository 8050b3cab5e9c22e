import { AccountService } from "@postrider/contracts/accounts/v1/account_service_pb";
import { CredentialService } from "@postrider/contracts/accounts/v1/credential_service_pb";
import { MediaService } from "@postrider/contracts/media/v1/media_service_pb";
import { TargetService } from "@postrider/contracts/posts/v1/target_service_pb";
import { limitForeignHosts } from "@postrider/platforms/http/foreign-hosts";
import { createPublishingConnectors } from "@postrider/platforms/publishing/registry";
import type { Bus } from "@postrider/shared/bus";
import { startConsumer } from "@postrider/shared/bus/consumer";
import type { Peer } from "@postrider/shared/connect/client";
import type { DeploymentGuard } from "@postrider/shared/deployment/guard";
import { newId } from "@postrider/shared/ids";
import type { Sql } from "@postrider/shared/postgres";
import { watchDisk } from "@postrider/shared/process/disk";
import { createLookCheck, type Check } from "@postrider/shared/process/health";
import { disposeInOrder, together } from "@postrider/shared/process/lifecycle";
import type { Logger } from "@postrider/shared/telemetry/logger";
import type { Config } from "#src/config.ts";
import { createMediaSource } from "#src/publishing/clients/media.ts";
import { POSTS_TOPIC, postsHandlers } from "#src/publishing/consumers/index.ts";
import { createHandleSealing } from "#src/publishing/db/handles.ts";
import { startAskForDetails } from "#src/publishing/jobs/ask-for-details.ts";
import { startClaimDeletions } from "#src/publishing/jobs/claim-deletions.ts";
import { startClaimTasks } from "#src/publishing/jobs/claim-tasks.ts";
import { startCountTasks } from "#src/publishing/jobs/count-tasks.ts";
import { startWatchDeployment } from "#src/publishing/jobs/watch-deployment.ts";
import { Spool } from "#src/publishing/storage/spool.ts";

interface PublishingOptions {
  readonly config: Config;
  readonly sql: Sql;
  readonly logger: Logger;
  readonly bus: Bus;
  readonly peers: { readonly posts: Peer; readonly accounts: Peer; readonly media: Peer };
  /** Says whether this process may publish from its data. */
  readonly guard: DeploymentGuard;
  /** Called when this process has appended events to the outbox. */
  readonly onEvents: () => void;
}

/** The consumer and the jobs that publish targets and delete published ones. */
export interface Publishing extends AsyncDisposable {
  /** Makes this process look for publish tasks now, without waiting for its next poll. */
  nudge(): void;
  /**
   * Readiness check that fails when this process has not looked for publish tasks for over 10 s, although it still runs. No
   * other readiness check notices that.
   */
  readonly check: Check;
}

function openMediaSource({ media, identity }: Config, peer: Peer) {
  return createMediaSource({ ...media, identity, mediaService: peer.client(MediaService) });
}

/** Starts to publish targets. Disposing of it first stops claiming, then waits for the open platform calls. */
export async function startPublishing(options: PublishingOptions): Promise<Publishing> {
  const { config, sql, logger, bus, peers, guard, onEvents } = options;
  limitForeignHosts(config.outbound);
  const media = openMediaSource(config, peers.media);
  const deps = {
    sql,
    logger,
    guard,
    onEvents,
    owner: newId(),
    connectors: createPublishingConnectors(config.platforms),
    posts: peers.posts.client(TargetService),
    accounts: {
      credentials: peers.accounts.client(CredentialService),
      accounts: peers.accounts.client(AccountService),
    },
    media,
    spool: new Spool(config.spool),
    sealing: createHandleSealing(config.handleKeys),
    settings: config.publishing,
    clocks: { monotonic: () => performance.now(), wall: () => Date.now() },
    random: Math.random,
  };
  const claims = startClaimTasks(deps);
  const deletions = startClaimDeletions(deps);
  const details = startAskForDetails(deps);
  const watch = startWatchDeployment({ guard, sql, logger, onEvents });
  const counts = startCountTasks(sql, logger);
  watchDisk("spool", config.spool.folder);
  const nudge = (): void => {
    claims.nudge();
    deletions.nudge();
  };
  const consumer = await startConsumer({
    bus,
    sql,
    group: config.service,
    topic: POSTS_TOPIC,
    handlers: postsHandlers,
    logger,
    onCommitted: nudge,
  });
  return {
    nudge,
    check: createLookCheck("tasks", () => claims.claimAgeMs()),
    [Symbol.asyncDispose]: () =>
      disposeInOrder([together([counts, watch, details, deletions, claims, consumer]), media]),
  };
}
