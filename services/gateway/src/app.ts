import { AccountService } from "@postrider/contracts/accounts/v1/account_service_pb";
import { AccountSettingsService } from "@postrider/contracts/accounts/v1/account_settings_service_pb";
import { AdmissionService } from "@postrider/contracts/accounts/v1/admission_service_pb";
import { ApiKeyService } from "@postrider/contracts/accounts/v1/api_key_service_pb";
import { AuthorizationService } from "@postrider/contracts/accounts/v1/authorization_service_pb";
import { DashboardService } from "@postrider/contracts/accounts/v1/dashboard_service_pb";
import { PlatformService } from "@postrider/contracts/accounts/v1/platform_service_pb";
import { HintService } from "@postrider/contracts/delivery/v1/hint_service_pb";
import { PublishingStatusService } from "@postrider/contracts/delivery/v1/publishing_status_service_pb";
import { TaskService } from "@postrider/contracts/delivery/v1/task_service_pb";
import { WebhookService } from "@postrider/contracts/delivery/v1/webhook_service_pb";
import { AutomationService } from "@postrider/contracts/engagement/v1/automation_service_pb";
import { CommentService } from "@postrider/contracts/engagement/v1/comment_service_pb";
import { InboxService } from "@postrider/contracts/engagement/v1/inbox_service_pb";
import { MetricsService } from "@postrider/contracts/engagement/v1/metrics_service_pb";
import { MediaService } from "@postrider/contracts/media/v1/media_service_pb";
import { OverviewService } from "@postrider/contracts/posts/v1/overview_service_pb";
import { PostService } from "@postrider/contracts/posts/v1/post_service_pb";
import { QueueSlotService } from "@postrider/contracts/posts/v1/queue_slot_service_pb";
import { QuotaService } from "@postrider/contracts/posts/v1/quota_service_pb";
import { createMediaLinks } from "@postrider/rest/media/links";
import { connectPeer, type Peer } from "@postrider/shared/connect/client";
import { createFirstAnswerCheck, createOpsServer } from "@postrider/shared/process/health";
import { disposeInOrder, type App } from "@postrider/shared/process/lifecycle";
import { openProcess } from "@postrider/shared/process/service";
import type { FastifyInstance } from "fastify";
import { createAdmission } from "#src/admission/admission.ts";
import { createCallPermits } from "#src/clients/call-permits.ts";
import { createMediaBytes } from "#src/clients/media-bytes.ts";
import type { Config } from "#src/config.ts";
import { createServer } from "#src/routes/server.ts";
import { createUploadTokens } from "#src/routes/uploads/upload-tokens.ts";

/**
 * Maximum duration of a request to the gateway. Each RPC that the gateway makes for the request
 * gets the remaining time as its deadline, and the request fails when an RPC misses it.
 */
const REQUEST_TIMEOUT_MS = 15_000;

/**
 * Time after the start of the gateway's shutdown at which requests in flight are answered with
 * `unavailable`, before their connections are closed.
 */
const ABORT_CALLS_MS = 16_000;

function closing(server: FastifyInstance, peers: readonly Peer[]): AsyncDisposable {
  const abortCalls = () => void Promise.all(peers.map((peer) => peer.abortCalls()));
  return {
    [Symbol.asyncDispose]: async () => {
      setTimeout(abortCalls, ABORT_CALLS_MS).unref();
      await server.close();
    },
  };
}

function connectPeers(config: Config) {
  const { accountsUrl, postsUrl, mediaUrl, deliveryUrl, engagementUrl, identity } = config;
  const connect = (service: string, baseUrl: string): Peer =>
    connectPeer({ service, baseUrl, identity, permits: createCallPermits() });
  return {
    accounts: connect("accounts", accountsUrl),
    posts: connect("posts", postsUrl),
    media: connect("media", mediaUrl),
    delivery: connect("delivery", deliveryUrl),
    engagement: connect("delivery", engagementUrl),
  };
}

function createClients(peers: ReturnType<typeof connectPeers>) {
  const { accounts, posts, media, delivery, engagement } = peers;
  return {
    accounts: accounts.client(AccountService),
    accountSettings: accounts.client(AccountSettingsService),
    authorizations: accounts.client(AuthorizationService),
    apiKeys: accounts.client(ApiKeyService),
    dashboard: accounts.client(DashboardService),
    platforms: accounts.client(PlatformService),
    posts: posts.client(PostService),
    overview: posts.client(OverviewService),
    publishingStatus: delivery.client(PublishingStatusService),
    tasks: delivery.client(TaskService),
    hints: delivery.client(HintService),
    quota: posts.client(QuotaService),
    queueSlots: posts.client(QueueSlotService),
    media: media.client(MediaService),
    webhooks: delivery.client(WebhookService),
    comments: engagement.client(CommentService),
    inbox: engagement.client(InboxService),
    automations: engagement.client(AutomationService),
    metrics: engagement.client(MetricsService),
  };
}

/** Disposing of the returned app answers the requests in flight and then stops the gateway. */
export async function startApp(config: Config): Promise<App> {
  const { identity, cells } = config;
  const base = openProcess(config);
  const { logger, health } = base;
  const peers = connectPeers(config);
  const mediaBytes = createMediaBytes({ baseUrl: config.mediaUrl, identity });
  const client = peers.accounts.client(AdmissionService);
  const admission = createAdmission({ client, logger, cells });
  health.checks.set(
    "accounts",
    createFirstAnswerCheck(() => client.admit({ queries: [] })),
  );
  const server = await createServer({
    admission,
    ...createClients(peers),
    mediaBytes,
    links: createMediaLinks(config),
    uploadTokens: createUploadTokens(config.mediaKeys),
    health,
    logger,
    publicUrl: config.publicUrl,
    cells,
    defaultLocale: config.defaultLocale,
    trustedProxies: config.trustedProxies,
    uploadOrigins: config.uploadOrigins,
    ...config.dashboard,
    patience: config.patience,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
  });
  const ops = createOpsServer(health);
  const url = await server.listen({ host: config.host, port: config.port });
  const metricsUrl = await ops.listen({ host: config.host, port: config.metricsPort });
  logger.info({ url, metricsUrl }, "the service is listening");
  return {
    logger,
    [Symbol.asyncDispose]: async () => {
      health.drain();
      await disposeInOrder([
        closing(server, Object.values(peers)),
        admission,
        ...Object.values(peers),
        mediaBytes,
        { [Symbol.asyncDispose]: () => ops.close() },
        base,
      ]);
    },
  };
}
