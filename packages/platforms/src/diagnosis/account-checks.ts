import type { DiagnosticCheck } from "@postrider/shared/diagnostics/finding";
import type { AccountAccess } from "#src/publishing/publication.ts";

export type AccountChecks = (account: AccountAccess) => readonly DiagnosticCheck[];
