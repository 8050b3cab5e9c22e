import type { DiagnosticCheck } from "@postrider/shared/diagnostics/finding";
import type { AccountAccess } from "#src/publishing/publication.ts";

/**
 * Returns the checks of a connected account, for example of the token, the quotas and the allowed settings. They change
 * nothing on the platform.
 */
export type AccountChecks = (account: AccountAccess) => readonly DiagnosticCheck[];
