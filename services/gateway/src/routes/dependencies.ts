import type { Client } from "@connectrpc/connect";
import type { AccountService } from "@postrider/contracts/accounts/v1/account_service_pb";
import type { AccountSettingsService } from "@postrider/contracts/accounts/v1/account_settings_service_pb";
import type { ApiKeyService } from "@postrider/contracts/accounts/v1/api_key_service_pb";
import type { AuthorizationService } from "@postrider/contracts/accounts/v1/authorization_service_pb";
import type { DashboardService } from "@postrider/contracts/accounts/v1/dashboard_service_pb";
import type { PlatformService } from "@postrider/contracts/accounts/v1/platform_service_pb";
import type { HintService } from "@postrider/contracts/delivery/v1/hint_service_pb";
import type { PublishingStatusService } from "@postrider/contracts/delivery/v1/publishing_status_service_pb";
import type { TaskService } from "@postrider/contracts/delivery/v1/task_service_pb";
import type { WebhookService } from "@postrider/contracts/delivery/v1/webhook_service_pb";
import type { AutomationService } from "@postrider/contracts/engagement/v1/automation_service_pb";
import type { CommentService } from "@postrider/contracts/engagement/v1/comment_service_pb";
import type { InboxService } from "@postrider/contracts/engagement/v1/inbox_service_pb";
import type { MetricsService } from "@postrider/contracts/engagement/v1/metrics_service_pb";
import type { MediaService } from "@postrider/contracts/media/v1/media_service_pb";
import type { OverviewService } from "@postrider/contracts/posts/v1/overview_service_pb";
import type { PostService } from "@postrider/contracts/posts/v1/post_service_pb";
import type { QueueSlotService } from "@postrider/contracts/posts/v1/queue_slot_service_pb";
import type { QuotaService } from "@postrider/contracts/posts/v1/quota_service_pb";
import type { Locale } from "@postrider/rest/locale";
import type { MediaLinks } from "@postrider/rest/media/links";
import type { Cells } from "@postrider/shared/config/cells";
import type { MinimumRate } from "@postrider/shared/limits/minimum-rate";
import type { Health } from "@postrider/shared/process/health";
import type { Logger } from "@postrider/shared/telemetry/logger";
import type { Admission } from "#src/admission/admission.ts";
import type { MediaBytes } from "#src/clients/media-bytes.ts";
import type { ExpectedAnswer, UnsentLimits } from "#src/routes/answer.ts";
import type { StreamLimits } from "#src/routes/dashboard/event-streams.ts";
import type { UploadTokens } from "#src/routes/uploads/upload-tokens.ts";

/** Limits on the memory of request bodies. */
export interface BodyLimits {
  readonly totalBytes: number;
  /** Maximum number of bytes of the bodies of all requests without a workspace. */
  readonly bytesWithoutWorkspace: number;
  /** Bytes per workspace or, for requests without a workspace, per remote network. */
  readonly bytesPerCaller: number;
  /** How long a request waits until the bytes of its body are reserved; then it is refused. */
  readonly maxWaitMs: number;
  /** A slower client is answered with 408, and its connection is closed. */
  readonly rate: MinimumRate;
}

export interface ServerDeps {
  readonly admission: Admission;
  readonly accounts: Pick<
    Client<typeof AccountService>,
    "listAccounts" | "batchGetAccounts" | "connectAccount" | "disconnectAccount"
  >;
  readonly accountSettings: Client<typeof AccountSettingsService>;
  readonly authorizations: Pick<
    Client<typeof AuthorizationService>,
    | "findConnectLink"
    | "openConnectLink"
    | "finishAuthorization"
    | "issueConnectLink"
    | "getAuthorization"
  >;
  readonly apiKeys: Client<typeof ApiKeyService>;
  readonly dashboard: Pick<
    Client<typeof DashboardService>,
    | "openDashboardSession"
    | "getDashboardSession"
    | "listDashboardSessions"
    | "revokeDashboardSessions"
  >;
  readonly platforms: Pick<Client<typeof PlatformService>, "listPlatforms">;
  readonly posts: Client<typeof PostService>;
  readonly overview: Client<typeof OverviewService>;
  readonly publishingStatus: Client<typeof PublishingStatusService>;
  readonly hints: Client<typeof HintService>;
  /** Default: the production values. */
  readonly streamLimits?: StreamLimits;
  readonly tasks: Pick<Client<typeof TaskService>, "resolveTarget">;
  readonly quota: Client<typeof QuotaService>;
  readonly queueSlots: Client<typeof QueueSlotService>;
  readonly media: Pick<
    Client<typeof MediaService>,
    | "batchGetMedia"
    | "listMedia"
    | "createUpload"
    | "completeUpload"
    | "importMedia"
    | "updateMedia"
    | "deleteMedia"
  >;
  readonly webhooks: Client<typeof WebhookService>;
  readonly comments: Client<typeof CommentService>;
  readonly inbox: Client<typeof InboxService>;
  readonly automations: Client<typeof AutomationService>;
  readonly metrics: Client<typeof MetricsService>;
  readonly mediaBytes: MediaBytes;
  readonly links: MediaLinks;
  readonly uploadTokens: UploadTokens;
  readonly health: Health;
  readonly logger: Logger;
  readonly publicUrl: string;
  readonly cells: Cells;
  readonly defaultLocale: Locale;
  readonly trustedProxies: readonly string[];
  /** Web origins whose pages may upload media from a browser. */
  readonly uploadOrigins: readonly string[];
  /** Folder with the build of the dashboard; undefined when the dashboard is turned off. */
  readonly dashboardFolder: string | undefined;
  /** Origins of the object store to which the dashboard's page may upload media. */
  readonly dashboardUploadOrigins: readonly string[];
  readonly requestTimeoutMs: number;
  readonly patience: Partial<Patience>;
  /** Limits on the memory of large answers. Default: the production values. */
  readonly unsentLimits?: UnsentLimits;
  /** Default: the production values. */
  readonly bodyLimits?: BodyLimits;
  /**
   * Mean delay of the event loop, in milliseconds, above which the gateway refuses new requests.
   * Default: 250 ms.
   */
  readonly maxLoopDelayMs?: number;
}

/** Limits on slow clients of the gateway. */
export interface Patience {
  /** Maximum time until all headers of a request have arrived; then the connection is closed. */
  readonly headersMs: number;
  /** Time for a request with its body; then the connection is closed. Uploads are exempt. */
  readonly requestMs: number;
  /** A slower transfer is aborted, unless the media service is the slow side. */
  readonly transferRate: MinimumRate;
  /**
   * Minimum rate at which a client reads an answer. The connection of a slower client is closed.
   */
  readonly readingRate: MinimumRate;
  /** Maximum time without a byte in either direction before a connection is closed. */
  readonly silenceMs: number;
}

/** The scopes that an API key can have. */
export const SCOPES = [
  "accounts:read",
  "accounts:write",
  "posts:read",
  "posts:write",
  "webhooks:read",
  "webhooks:write",
  "automations:read",
  "automations:write",
  "comments:read",
  "comments:write",
] as const;

export type Scope = (typeof SCOPES)[number];

/** The API key or dashboard session of an admitted request, with its workspace and scopes. */
export interface Caller {
  /** Undefined for a session that was opened with a link. */
  readonly keyId: string | undefined;
  /** Undefined for a request with an API key. */
  readonly sessionId?: string | undefined;
  readonly workspaceId: string;
  readonly verified: boolean;
  /** Whether the workspace is being moved to another cell, so that it can only be read. */
  readonly isFrozen: boolean;
  readonly scopes: ReadonlySet<string>;
  /** Whether the key or session is no longer valid; for work that takes long. */
  readonly hasEnded: () => Promise<boolean>;
}

declare module "fastify" {
  interface FastifyContextConfig {
    /**
     * The scope that the API key needs for the operation. Routes without a scope need no API key.
     */
    readonly scope?: Scope;
    /** Whether a route without a scope needs an API key. */
    readonly needsKey?: boolean;
    /** Whether the route takes a dashboard session, and no API key. */
    readonly needsSession?: boolean;
    readonly timeoutMs?: number;
    /**
     * Maximum size, in bytes, of an answer of the route, if it can be large. A request waits until
     * this number of bytes is reserved for its answer.
     */
    readonly answerBytes?: number;
    /** Maximum size, in bytes, of one entry of a list, so that a short page reserves less. */
    readonly itemBytes?: number;
    readonly expectAnswer?: (body: unknown) => ExpectedAnswer;
    /**
     * The limit per remote address to which requests to a route count that needs no API key: that
     * of the documentation and the API description, that of the pages that connect an account, that
     * of the dashboard's page, or that of logging in to the dashboard.
     */
    readonly openLimit?: "documents" | "connect" | "dashboard" | "login";
    /** The handler reads the body as a stream, whatever its type and length. */
    readonly isRawBody?: boolean;
    /** Whether pages of the configured web origins may call the route. */
    readonly isCrossOrigin?: boolean;
  }
  interface FastifyRequest {
    /** Set on every route that requires a scope. */
    caller: Caller | undefined;
    /** Length of the request body in bytes; 0 without a body. */
    bodyBytes: number;
    /** Set if the body may be large: waits until a body of as many bytes may be parsed. */
    waitForTurn: ((bytes: number) => Promise<void>) | undefined;
    /** Whether its handler may have done something. */
    hasBegun: boolean;
    /** For the log; undefined when the request succeeds. */
    errorCode: string | undefined;
    /** The language of the messages in the answer to a request. */
    locale: Locale;
  }
}
