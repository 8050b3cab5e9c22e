/** The result of asking the package registry for known vulnerabilities. */
export type Audit =
  | { readonly kind: "unavailable"; readonly reason: string }
  | {
      readonly kind: "answered";
      /** One line for each high or critical vulnerability, with which Postrider must not ship. */
      readonly grave: readonly string[];
      /** Number of known vulnerabilities that are less severe than high. */
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

/**
 * Parses the output of `pnpm audit --json`. When the package registry does not answer, or has no audit service, the
 * result is `unavailable`, so that a fault of the registry does not fail the check.
 */
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

/** Parses the JSON in the output of pnpm. npm and npx may print messages before and after the JSON. */
function parse(output: string): AuditJson {
  const start = output.indexOf("{");
  const end = output.lastIndexOf("}");
  try {
    return JSON.parse(output.slice(start, end + 1)) as AuditJson;
  } catch {
    return {};
  }
}
