import type { ConnectRouter, ServiceImpl } from "@connectrpc/connect";
import { AccountService } from "@postrider/contracts/accounts/v1/account_service_pb";
import { AccountSettingsService } from "@postrider/contracts/accounts/v1/account_settings_service_pb";
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
import { toPostSummary } from "@postrider/rest/posts/mapping";
import type { PostDetailJson } from "@postrider/rest/posts/schemas";
import { createHealth } from "@postrider/shared/process/health";
import { createLogger, type Logger } from "@postrider/shared/telemetry/logger";
import { createTestIdentities } from "@postrider/shared/testing/identities";
import { createTestPeer } from "@postrider/shared/testing/router";
import type { FastifyInstance } from "fastify";
import type { AdmissionResult } from "#src/admission/admission-result.ts";
import type { Admission } from "#src/admission/admission.ts";
import { createMediaBytes } from "#src/clients/media-bytes.ts";
import type { ServerDeps } from "#src/routes/dependencies.ts";
import { createServer } from "#src/routes/server.ts";
import { createUploadTokens } from "#src/routes/uploads/upload-tokens.ts";

export const WORKSPACE_ID = "01936a5e-7d2b-7000-8000-00000000000a";
export const POST_ID = "01936a5e-7d2b-7000-8000-000000000001";
export const MEDIA_ID = "01936a5e-7d2b-7000-8000-00000000000b";
export const PUBLIC_URL = "http://127.0.0.1:8080";
/**
 * The identities with which the gateway and the services that it calls authenticate themselves in
 * tests.
 */
export const identities = createTestIdentities();
export const MEDIA_KEY = "m".repeat(32);

const UPLOAD_TOKENS = createUploadTokens([MEDIA_KEY]);

/** Returns the token of a grant, as a client got it, from the token of the media service. */
export const uploadTokenOf = (token: string) =>
  UPLOAD_TOKENS.sign({ uploadPath: MEDIA_ID, uploadToken: token }, new Date());
export const ACCOUNT_ID = "01936a5e-7d2b-7000-8000-000000000002";

const LIMIT = {
  policy: "workspace",
  quota: 600,
  windowSeconds: 60,
  remaining: 593,
  resetSeconds: 12,
} as const;

/** Returns the result of admitting a request whose API key has all scopes. */
export function admitted(
  overrides: Partial<Extract<AdmissionResult, { kind: "admitted" }>> = {},
): AdmissionResult {
  const scopes = new Set(["accounts:read", "accounts:write", "posts:read", "posts:write"]);
  return {
    kind: "admitted",
    keyId: "k",
    scopes,
    workspaceId: WORKSPACE_ID,
    verified: true,
    isFrozen: false,
    limit: LIMIT,
    ...overrides,
  };
}

export interface Peers {
  readonly posts?: Partial<ServiceImpl<typeof PostService>>;
  readonly overview?: Partial<ServiceImpl<typeof OverviewService>>;
  readonly publishingStatus?: Partial<ServiceImpl<typeof PublishingStatusService>>;
  readonly tasks?: Partial<ServiceImpl<typeof TaskService>>;
  readonly hints?: Partial<ServiceImpl<typeof HintService>>;
  readonly streamLimits?: ServerDeps["streamLimits"];
  readonly quota?: Partial<ServiceImpl<typeof QuotaService>>;
  readonly queueSlots?: Partial<ServiceImpl<typeof QueueSlotService>>;
  readonly accounts?: Partial<ServiceImpl<typeof AccountService>>;
  readonly accountSettings?: Partial<ServiceImpl<typeof AccountSettingsService>>;
  readonly authorizations?: Partial<ServiceImpl<typeof AuthorizationService>>;
  readonly apiKeys?: Partial<ServiceImpl<typeof ApiKeyService>>;
  readonly dashboard?: Partial<ServiceImpl<typeof DashboardService>>;
  readonly platforms?: Partial<ServiceImpl<typeof PlatformService>>;
  readonly media?: Partial<ServiceImpl<typeof MediaService>>;
  readonly webhooks?: Partial<ServiceImpl<typeof WebhookService>>;
  readonly comments?: Partial<ServiceImpl<typeof CommentService>>;
  readonly inbox?: Partial<ServiceImpl<typeof InboxService>>;
  readonly automations?: Partial<ServiceImpl<typeof AutomationService>>;
  readonly metrics?: Partial<ServiceImpl<typeof MetricsService>>;
  /** Base URL of the media service. By default no server listens there. */
  readonly mediaUrl?: string;
  readonly maxInFlight?: number;
  readonly uploadOrigins?: readonly string[];
  readonly trustedProxies?: readonly string[];
  /** By default the dashboard is turned on, and not built. */
  readonly dashboardFolder?: string | undefined;
  readonly dashboardUploadOrigins?: readonly string[];
  readonly publicUrl?: string;
  /** By default no key ends. */
  readonly hasEnded?: Admission["hasEnded"];
  /** By default the installation has no cells. */
  readonly cells?: ServerDeps["cells"];
  readonly patience?: ServerDeps["patience"];
  readonly unsentLimits?: ServerDeps["unsentLimits"];
  readonly bodyLimits?: ServerDeps["bodyLimits"];
  /** Maximum duration of a request in milliseconds. Default: 5 s. */
  readonly requestTimeoutMs?: number;
  /**
   * By default the server refuses no request because of load: the tests run in its event loop and
   * may delay it.
   */
  readonly maxLoopDelayMs?: number;
}

/**
 * Creates the REST server with in-memory services. The function `admit` decides whether a request
 * is admitted.
 */
export async function createTestServer(
  peers: Peers = {},
  admit: Admission["admit"] = () => admitted(),
  logger: Logger = createLogger({ service: "test", level: "silent" }),
): Promise<FastifyInstance> {
  const peer = createTestPeer((router: ConnectRouter) => {
    router.service(PostService, peers.posts ?? {});
    router.service(OverviewService, peers.overview ?? {});
    router.service(PublishingStatusService, peers.publishingStatus ?? {});
    router.service(TaskService, peers.tasks ?? {});
    router.service(HintService, peers.hints ?? {});
    router.service(QuotaService, peers.quota ?? {});
    router.service(QueueSlotService, peers.queueSlots ?? {});
    router.service(AccountService, peers.accounts ?? {});
    router.service(AccountSettingsService, peers.accountSettings ?? {});
    router.service(AuthorizationService, peers.authorizations ?? {});
    router.service(ApiKeyService, peers.apiKeys ?? {});
    router.service(DashboardService, peers.dashboard ?? {});
    router.service(PlatformService, peers.platforms ?? {});
    router.service(MediaService, peers.media ?? {});
    router.service(WebhookService, peers.webhooks ?? {});
    router.service(CommentService, peers.comments ?? {});
    router.service(InboxService, peers.inbox ?? {});
    router.service(AutomationService, peers.automations ?? {});
    router.service(MetricsService, peers.metrics ?? {});
  });
  const baseUrl = peers.mediaUrl ?? "http://127.0.0.1:1";
  const mediaBytes = createMediaBytes({
    baseUrl,
    identity: identities.of("gateway"),
    maxInFlight: peers.maxInFlight ?? 100,
  });
  const app = await createServer({
    admission: {
      admit,
      hasEnded: peers.hasEnded ?? (() => Promise.resolve(false)),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    },
    accounts: peer.client(AccountService),
    accountSettings: peer.client(AccountSettingsService),
    authorizations: peer.client(AuthorizationService),
    apiKeys: peer.client(ApiKeyService),
    dashboard: peer.client(DashboardService),
    platforms: peer.client(PlatformService),
    posts: peer.client(PostService),
    overview: peer.client(OverviewService),
    publishingStatus: peer.client(PublishingStatusService),
    tasks: peer.client(TaskService),
    hints: peer.client(HintService),
    ...(peers.streamLimits === undefined ? {} : { streamLimits: peers.streamLimits }),
    quota: peer.client(QuotaService),
    queueSlots: peer.client(QueueSlotService),
    health: createHealth(),
    logger,
    media: peer.client(MediaService),
    webhooks: peer.client(WebhookService),
    comments: peer.client(CommentService),
    inbox: peer.client(InboxService),
    automations: peer.client(AutomationService),
    metrics: peer.client(MetricsService),
    mediaBytes,
    links: createMediaLinks({
      publicUrl: PUBLIC_URL,
      mediaKeys: [MEDIA_KEY],
      mediaUrlMs: 60_000,
    }),
    uploadTokens: UPLOAD_TOKENS,
    publicUrl: peers.publicUrl ?? PUBLIC_URL,
    cells: peers.cells ?? { own: undefined, addresses: new Map() },
    defaultLocale: "en",
    trustedProxies: peers.trustedProxies ?? [],
    patience: peers.patience ?? {},
    ...(peers.unsentLimits === undefined ? {} : { unsentLimits: peers.unsentLimits }),
    ...(peers.bodyLimits === undefined ? {} : { bodyLimits: peers.bodyLimits }),
    uploadOrigins: peers.uploadOrigins ?? [],
    dashboardFolder: "dashboardFolder" in peers ? peers.dashboardFolder : "/no/dashboard",
    dashboardUploadOrigins: peers.dashboardUploadOrigins ?? [],
    requestTimeoutMs: peers.requestTimeoutMs ?? 5000,
    maxLoopDelayMs: peers.maxLoopDelayMs ?? Infinity,
  });
  app.addHook("onClose", () => mediaBytes[Symbol.asyncDispose]());
  return app;
}

/**
 * A REST server that all tests of a file share, because building one takes a quarter of a second.
 */
export interface SharedServer {
  readonly app: FastifyInstance;
  /**
   * Replaces the handlers of all in-memory services, and the function that admits requests, for one
   * test.
   */
  use(peers: Pick<Peers, PeerName>, admit?: Admission["admit"]): void;
}

type PeerName = "posts" | "accounts" | "authorizations" | "accountSettings" | "platforms";

export async function createSharedServer(logger?: Logger): Promise<SharedServer> {
  let current: Pick<Peers, PeerName> = {};
  let currentAdmit: Admission["admit"] = () => admitted();
  const delegate = (name: PeerName): object =>
    new Proxy(
      {},
      {
        get: (_, method) => (request: unknown, context: unknown) => {
          const handlers: Readonly<Record<PropertyKey, unknown>> = { ...current[name] };
          const handler = handlers[method];
          if (typeof handler !== "function")
            throw new Error(`unexpected call of ${String(method)}`);
          return handler(request, context) as unknown;
        },
      },
    );
  const peers = {
    posts: delegate("posts"),
    accounts: delegate("accounts"),
    platforms: delegate("platforms"),
    accountSettings: delegate("accountSettings"),
    authorizations: delegate("authorizations"),
  };
  const app = await createTestServer(peers, (request) => currentAdmit(request), logger);
  return {
    app,
    use: (handlers, admit = () => admitted()) => {
      current = handlers;
      currentAdmit = admit;
    },
  };
}

/** A post with one published target, as the REST API returns it. */
export const POST_RECORD = {
  id: POST_ID,
  status: "published",
  content: "Hello",
  scheduledAt: null,
  startedAt: "2026-11-18T11:06:40.005Z",
  publishedAt: "2026-11-18T11:06:41.000Z",
  createdVia: "rest",
  createdAt: "2026-11-18T11:06:40.005Z",
  updatedAt: "2026-11-18T11:06:41.000Z",
  mediaIds: [],
  options: { x: { content: "Hello x", tags: [] } },
  queueSlotRuleId: null,
  media: [],
  targets: [
    {
      id: "01936a5e-7d2b-7000-8000-000000000003",
      accountId: ACCOUNT_ID,
      platform: "x",
      username: "ann",
      status: "published",
      externalId: "1859",
      permalink: "https://x.com/ann/status/1859",
      publishedAt: "2026-11-18T11:06:41.000Z",
      error: null,
      attemptCount: 1,
      nextAttemptAt: null,
      metrics: null,
    },
  ],
  attempts: [
    {
      accountId: ACCOUNT_ID,
      number: 1,
      startedAt: "2026-11-18T11:06:40.000Z",
      finishedAt: null,
      outcome: "published",
      code: null,
      message: null,
    },
  ],
};

type PostChange = Partial<Record<keyof typeof POST_RECORD, unknown>> & {
  readonly workspaceId?: string;
  readonly version?: bigint;
};

/** `POST_RECORD` with the given changes, as the posts service returns it. */
export function postOf({ workspaceId = WORKSPACE_ID, version = 3n, ...change }: PostChange = {}) {
  const json = JSON.stringify({ ...POST_RECORD, ...change });
  return { id: POST_ID, workspaceId, version, json };
}

export const POST = postOf();

/** A page with `POST_RECORD`, with the given changes, as the posts service returns it. */
export function pageOf(change: PostChange = {}, nextCursor: string | null = null) {
  const post = toPostSummary({ ...POST_RECORD, ...change } as PostDetailJson);
  return { json: JSON.stringify({ posts: [post], nextCursor }) };
}
