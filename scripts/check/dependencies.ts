import { findForbidden } from "../dependencies/check-licences.ts";
import { findPackages } from "../dependencies/find-packages.ts";
import { readAudit } from "../dependencies/read-audit.ts";
import { root, runCommand, type CommandResult } from "./run-command.ts";

/** Checks that everything we ship is under a licence that `check-licences.ts` accepts. */
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

/** A vulnerability that is known and grave is a failure; a registry that cannot be asked is a note. */
export async function checkVulnerabilities(): Promise<CommandResult> {
  const { output } = await runCommand("pnpm", ["audit", "--prod", "--json", ...QUICKLY]);
  // That is a fault of this machine, which would hide itself for ever.
  if (output.startsWith("Error: spawn")) return { ok: false, output };
  const audit = readAudit(output);
  if (audit.kind === "unavailable")
    return { ok: true, output, note: `not checked, the registry cannot be asked: ${audit.reason}` };
  const note = audit.others === 0 ? "" : `${audit.others} less grave ones are known`;
  return { ok: audit.grave.length === 0, output: audit.grave.join("\n"), note };
}
