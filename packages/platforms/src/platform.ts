import type { PlatformAuthorization } from "#src/authorization/configure.ts";
import type { CommentsConnector } from "#src/comments/connector.ts";
import type { AccountChecks } from "#src/diagnosis/account-checks.ts";
import type { LeastVisible } from "#src/diagnosis/least-visible.ts";
import type { PlatformEnvironment } from "#src/environment.ts";
import type { MetricsConnector } from "#src/metrics/connector.ts";
import type { PrivateRepliesConnector } from "#src/private-replies/connector.ts";
import type { PublishingConnector } from "#src/publishing/connector.ts";
import type { LinkForm } from "#src/publishing/permalinks.ts";
import type { PlatformRules } from "#src/rules.ts";
import type { AvailableReader, OfferRules } from "#src/settings/available-reader.ts";
import type { SettingFields } from "#src/settings/field.ts";

export interface PlatformFacts {
  readonly rules: PlatformRules;
  readonly settings: SettingFields;
  /** Settings with which the post of a live check is visible to the fewest people. */
  readonly liveCheck: LeastVisible;
  readonly offer: OfferRules | undefined;
}

/** What a platform does not have is undefined. */
export interface Platform extends PlatformFacts {
  readonly environment: PlatformEnvironment<unknown, unknown>;
  readonly authorization: PlatformAuthorization<never>;
  readonly publishing: (settings: never) => PublishingConnector;
  readonly comments: ((settings: never) => CommentsConnector) | undefined;
  readonly privateReplies: ((settings: never) => PrivateRepliesConnector) | undefined;
  readonly metrics: ((settings: never) => MetricsConnector) | undefined;
  readonly diagnosis: (settings: never) => AccountChecks;
  readonly available: ((settings: never) => AvailableReader) | undefined;
  /** Undefined for a platform whose links to posts contain another id than its API uses. */
  readonly links: LinkForm | undefined;
}
