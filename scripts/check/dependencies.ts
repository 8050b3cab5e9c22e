import { type FoundPackage, findPackages } from "../dependencies/find-packages.ts";
import { root, runCommand, type CommandResult } from "./run-command.ts";

export async function checkLicences(): Promise<CommandResult> {
  const forbidden = findForbidden(findPackages(root));
  const advice = "Take another package, or agree to it in scripts/check/dependencies.ts.";
  return await Promise.resolve(
    forbidden.length === 0
      ? { ok: true, output: "" }
      : { ok: false, output: [...forbidden, advice].join("\n") },
  );
}

const QUICKLY = ["--config.fetch-retries=0", "--config.fetch-timeout=20000"];

/** Only high and critical ones. Succeeds with a note when the package registry does not answer. */
export async function checkVulnerabilities(): Promise<CommandResult> {
  const { output } = await runCommand("pnpm", ["audit", "--prod", "--json", ...QUICKLY]);
  // When pnpm cannot be started, the step fails: a note about the missing check would remain
  // unnoticed.
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

/**
 * Licences that let every user run, change and redistribute Postrider together with the package.
 */
const ALLOWED = new Set([
  "0BSD",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "BlueOak-1.0.0",
  "CC0-1.0",
  "ISC",
  "MIT",
  "MIT-0",
  "Unlicense",
  "Zlib",
]);

/** Packages that may have a licence that is otherwise not allowed, with the reason. */
const EXCEPTIONS: readonly {
  readonly name: RegExp;
  readonly licence: string;
  readonly why: string;
}[] = [
  {
    name: /^@img\/sharp-libvips-/,
    licence: "LGPL-3.0-or-later",
    why: "a dynamically loaded library in its own file, which users can replace",
  },
  {
    name: /^libheif-js$/,
    licence: "LGPL-3.0",
    why: "a WebAssembly module in its own file, which users can replace",
  },
];

/** An SPDX expression with nested brackets is not parsed, and so is not allowed. */
export function isAllowed(licence: string): boolean {
  const inside = /^\(([^()]*)\)$/.exec(licence)?.[1] ?? licence;
  return inside
    .split(" OR ")
    .some((choice) => choice.split(" AND ").every((part) => ALLOWED.has(part.trim())));
}

export function findForbidden(packages: readonly FoundPackage[]): readonly string[] {
  return packages
    .filter(({ name, licence }) => {
      const isException = EXCEPTIONS.some((one) => one.name.test(name) && one.licence === licence);
      return !isException && !isAllowed(licence);
    })
    .map(({ name, version, licence }) => `${name}@${version}: ${licence || "no licence"}`);
}

export type Audit =
  | { readonly kind: "unavailable"; readonly reason: string }
  | {
      readonly kind: "answered";
      readonly grave: readonly string[];
      readonly others: number;
    };

interface Advisory {
  readonly severity?: string;
  readonly module_name?: string;
  readonly vulnerable_versions?: string;
  readonly title?: string;
  readonly url?: string;
}

const GRAVE = new Set(["high", "critical"]);

/** `unavailable` without an answer: a fault of the registry does not fail the check. */
export function readAudit(output: string): Audit {
  const answer = parse(output);
  const { advisories, error } = answer;
  if (advisories === undefined) {
    const [reason = ""] = (error?.message ?? output).trim().split("\n");
    return { kind: "unavailable", reason: reason.slice(0, 200) || "pnpm audit printed nothing" };
  }
  const all = Object.values(advisories);
  const grave = all.filter(({ severity = "" }) => GRAVE.has(severity));
  return {
    kind: "answered",
    grave: grave.map(
      ({ module_name: name, vulnerable_versions: versions, severity, title, url }) =>
        `${name} ${versions}: ${severity}: ${title} (${url})`,
    ),
    others: all.length - grave.length,
  };
}

interface AuditJson {
  readonly advisories?: Readonly<Record<string, Advisory>>;
  readonly error?: { readonly message?: string };
}

/** npm and npx may print messages before and after the JSON. */
function parse(output: string): AuditJson {
  const start = output.indexOf("{");
  const end = output.lastIndexOf("}");
  try {
    return JSON.parse(output.slice(start, end + 1)) as AuditJson;
  } catch {
    return {};
  }
}
