import type { DiagnosticCheck } from "@postrider/shared/diagnostics/finding";
import { callPlatform } from "#src/http/call-platform.ts";
import { header } from "#src/http/platform-answer.ts";
import type { PlatformId } from "#src/platform-id.ts";
import { PLATFORM_FACTS } from "#src/registry.ts";

/** The header `Date` has whole seconds, and the answer takes time. */
const MAX_SKEW_MS = 30_000;

export function createHostChecks(
  baseUrls: Readonly<Partial<Record<PlatformId, string>>>,
): readonly DiagnosticCheck[] {
  return (Object.entries(baseUrls) as [PlatformId, string][]).map(([platform, url]) => ({
    name: `connection to ${platform}`,
    remedy: `allow connections to ${new URL(url).host}; a firewall, a proxy or the DNS may be in the way`,
    guide: `platforms/${platform}.md`,
    run: (signal) => checkHost(platform, url, signal),
  }));
}

async function checkHost(platform: PlatformId, url: string, signal: AbortSignal) {
  const { displayName } = PLATFORM_FACTS[platform].rules;
  const { host, protocol } = new URL(url);
  const answer = await callPlatform({ method: "GET", url }, signal);
  if (answer.kind === "no_answer")
    throw new Error(`${displayName} does not answer at ${host}: ${answer.message}`);
  // No platform offers its API without https.
  const isReplaced = protocol === "http:";
  const found = isReplaced
    ? `${host} answers in place of ${displayName}, as ${platform.toUpperCase()}_BASE_URL says`
    : `${displayName} answers at ${host}`;
  const skewMs = Math.abs(Date.now() - Date.parse(header(answer, "date") ?? ""));
  return skewMs > MAX_SKEW_MS
    ? ({
        status: "failed",
        found: `${found}, and its clock differs from ours by ${Math.round(skewMs / 1000)} s`,
        remedy: "synchronize the clock of the machine; platforms refuse requests with a wrong time",
      } as const)
    : ({ status: "ok", found } as const);
}
