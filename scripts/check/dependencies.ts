import { findForbidden } from "../dependencies/check-licences.ts";
import { findPackages } from "../dependencies/find-packages.ts";
import { readAudit } from "../dependencies/read-audit.ts";
import { root, runCommand, type CommandResult } from "./run-command.ts";

/** Checks that every shipped package has a licence that `check-licences.ts` accepts. */
export async function checkLicences(): Promise<CommandResult> {
  const forbidden = findForbidden(findPackages(root));
  const advice = "Take another package, or agree to it in scripts/dependencies/check-licences.ts.";
  return await Promise.resolve(
    forbidden.length === 0
      ? { ok: true, output: "" }
      : { ok: false, output: [...forbidden, advice].join("\n") },
  );
}

const QUICKLY = ["--config.fetch-retries=0", "--config.fetch-timeout=20000"];

/**
 * Fails when a high or critical vulnerability of a shipped package is known. When the package registry does not answer,
 * the step succeeds with a note.
 */
export async function checkVulnerabilities(): Promise<CommandResult> {
  const { output } = await runCommand("pnpm", ["audit", "--prod", "--json", ...QUICKLY]);
  // When pnpm cannot be started, the step fails: a note about the missing check would remain unnoticed.
  if (output.startsWith("Error: spawn")) return { ok: false, output };
  const audit = readAudit(output);
  if (audit.kind === "unavailable")
    return {
      ok: true,
      output,
      note: `vulnerabilities were not checked, because the registry did not answer: ${audit.reason}`,
    };
  const note =
    audit.others === 0 ? "" : `${audit.others} vulnerabilities of lower severity are known`;
  return { ok: audit.grave.length === 0, output: audit.grave.join("\n"), note };
}
