import type { PlatformAuthorization } from "#src/authorization/configure.ts";
import type { CommentsConnector } from "#src/comments/connector.ts";
import type { AccountChecks } from "#src/diagnosis/account-checks.ts";
import type { LeastVisible } from "#src/diagnosis/live/least-visible.ts";
import type { MetricsConnector } from "#src/metrics/connector.ts";
import type { PrivateRepliesConnector } from "#src/private-replies/connector.ts";
import type { PublishingConnector } from "#src/publishing/connector.ts";
import type { LinkForm } from "#src/publishing/permalinks.ts";
import type { AvailableReader, OfferRules } from "#src/settings/available-reader.ts";
import type { SettingFields } from "#src/settings/field.ts";
import type { PlatformEnvironment } from "./environment.ts";
import type { PlatformRules } from "./rules.ts";

/** What is known of a platform without a call to it. */
export interface PlatformFacts {
  readonly rules: PlatformRules;
  /** The settings that accounts of the platform have. */
  readonly settings: SettingFields;
  /** The least visible post that the platform's API can make. */
  readonly liveCheck: LeastVisible;
  /** Undefined for a platform that offers the same to all accounts. */
  readonly offer: OfferRules | undefined;
}

/**
 * Everything that Postrider knows of one platform and can do there. Most members create a connector from the addresses and
 * options with which the platform is called (`PublishingSettings`); what a platform does not have is undefined.
 */
export interface Platform extends PlatformFacts {
  readonly environment: PlatformEnvironment<unknown, unknown>;
  readonly authorization: PlatformAuthorization<never>;
  readonly publishing: (settings: never) => PublishingConnector;
  readonly comments: ((settings: never) => CommentsConnector) | undefined;
  readonly privateReplies: ((settings: never) => PrivateRepliesConnector) | undefined;
  readonly metrics: ((settings: never) => MetricsConnector) | undefined;
  readonly diagnosis: (settings: never) => AccountChecks;
  /** Creates the connector of live checks, which make the post that `liveCheck` describes. */
  readonly livePublishing: (settings: never) => PublishingConnector;
  /** Asks what the platform offers an account; `offer` says what follows from the answer. */
  readonly available: ((settings: never) => AvailableReader) | undefined;
  /** Undefined for a platform whose links to posts contain another id than its API uses. */
  readonly links: LinkForm | undefined;
}
