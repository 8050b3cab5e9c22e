import type { Client } from "@connectrpc/connect";
import type { AccountService } from "@postrider/contracts/accounts/v1/account_service_pb";
import type { AuthorizationService } from "@postrider/contracts/accounts/v1/authorization_service_pb";
import type { PlatformService } from "@postrider/contracts/accounts/v1/platform_service_pb";
import type { MediaService } from "@postrider/contracts/media/v1/media_service_pb";
import type { PostService } from "@postrider/contracts/posts/v1/post_service_pb";
import type { QueueSlotService } from "@postrider/contracts/posts/v1/queue_slot_service_pb";
import type { QuotaService } from "@postrider/contracts/posts/v1/quota_service_pb";
import type { Health } from "@postrider/shared/process/health";
import type { Logger } from "@postrider/shared/telemetry/logger";
import type { Admission } from "#src/clients/admission.ts";
import type { MediaBytes } from "#src/clients/media-bytes.ts";
import type { Locale } from "#src/http/messages.ts";
import type { MediaLinks } from "#src/routes/media/links.ts";

/** What the routes stand on. */
export interface ServerDeps {
  readonly admission: Admission;
  readonly accounts: Pick<Client<typeof AccountService>, "listAccounts" | "disconnectAccount">;
  readonly authorizations: Pick<
    Client<typeof AuthorizationService>,
    "findTicket" | "openTicket" | "finishAuthorization"
  >;
  readonly platforms: Pick<Client<typeof PlatformService>, "listPlatforms">;
  readonly posts: Client<typeof PostService>;
  readonly quota: Client<typeof QuotaService>;
  readonly queueSlots: Client<typeof QueueSlotService>;
  readonly media: Pick<
    Client<typeof MediaService>,
    "batchGetMedia" | "createUpload" | "completeUpload" | "importMedia" | "deleteMedia"
  >;
  readonly mediaBytes: MediaBytes;
  readonly links: MediaLinks;
  readonly health: Health;
  readonly logger: Logger;
  readonly publicUrl: string;
  readonly defaultLocale: Locale;
  readonly trustedProxies: readonly string[];
  /** Web origins whose pages may upload. */
  readonly uploadOrigins: readonly string[];
  readonly requestTimeoutMs: number;
  /** Times and sizes that keep connections from being held for nothing; those that are absent are as in production. */
  readonly patience: Partial<Patience>;
  /** How late the event loop may be on average before requests are refused; 250 ms when absent. */
  readonly maxLoopDelayMs?: number;
}

/** How long the gateway waits for what a client sends. */
export interface Patience {
  /** For all headers of a request. */
  readonly headersMs: number;
  /** For all of a request but an upload. */
  readonly requestMs: number;
  /** An upload that is silent for so long has ended. */
  readonly stallMs: number;
  /** An upload that is slower than this, on average over `stallMs`, has ended too. */
  readonly minBytesPerSecond: number;
  /** A connection on which nothing moves in either direction is given up after so long, answered or not. */
  readonly silenceMs: number;
}

/** Scopes of API keys, as the interface names them. */
export type Scope =
  | "accounts:read"
  | "accounts:write"
  | "posts:read"
  | "posts:write"
  | "webhooks:read"
  | "webhooks:write"
  | "automations:read"
  | "automations:write"
  | "comments:read"
  | "comments:write";

/** Who makes the request, once admission has let it in. */
export interface Caller {
  readonly workspaceId: string;
  readonly verified: boolean;
  readonly scopes: ReadonlySet<string>;
}

declare module "fastify" {
  interface FastifyContextConfig {
    /** The scope that the operation needs; routes without one are open to everybody. */
    readonly scope?: Scope;
    /** How long a request may take in all, where it is not what it is for most. */
    readonly timeoutMs?: number;
    /** Needs no key, and is limited per remote address. */
    readonly isOpen?: boolean;
    /** The handler gets the body as a stream, whatever its type and length. */
    readonly isRawBody?: boolean;
    /** Pages of the configured web origins may call it. */
    readonly isCrossOrigin?: boolean;
  }
  interface FastifyRequest {
    /** Set on every route that needs a key. */
    caller: Caller | undefined;
    /** Length of the body as it came, 0 without one. */
    bodyBytes: number;
    /** `error.code` of the answer, if it was no success; for the log. */
    errorCode: string | undefined;
    /** The language of texts in the answer. */
    locale: Locale;
  }
}
