import type { DiagnosticCheck } from "@postrider/shared/diagnostics/finding";
import { createBlueskyAccountChecks } from "#src/bluesky/diagnosis.ts";
import { createFacebookAccountChecks } from "#src/facebook/diagnosis.ts";
import { createInstagramAccountChecks } from "#src/instagram/diagnosis.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import type { PublishingSettings } from "#src/publishing/registry.ts";
import type { PlatformId } from "#src/registry.ts";
import { createTelegramAccountChecks } from "#src/telegram/diagnosis.ts";
import { createTiktokAccountChecks } from "#src/tiktok/diagnosis.ts";
import { createXAccountChecks } from "#src/x/diagnosis.ts";
import { createYoutubeAccountChecks } from "#src/youtube/diagnosis.ts";

/** Returns the checks of a connected account. They change nothing on the platform. */
export type AccountChecks = (account: AccountAccess) => readonly DiagnosticCheck[];

/**
 * The checks that each platform has for its accounts, for example of the token, the quotas and the allowed settings.
 */
export function createAccountChecks(
  settings: PublishingSettings,
): Readonly<Record<PlatformId, AccountChecks>> {
  return {
    instagram: (account) => createInstagramAccountChecks(settings.instagram, account),
    x: (account) => createXAccountChecks(settings.x, account),
    facebook: (account) => createFacebookAccountChecks(settings.facebook, account),
    tiktok: (account) => createTiktokAccountChecks(settings.tiktok, account),
    youtube: (account) => createYoutubeAccountChecks(settings.youtube, account),
    telegram: (account) => createTelegramAccountChecks(settings.telegram, account),
    bluesky: (account) => createBlueskyAccountChecks(settings.bluesky, account),
  };
}
