/** What the registry knows about our dependencies. */
export type Audit =
  | { readonly kind: "unavailable"; readonly reason: string }
  | {
      readonly kind: "answered";
      /** One line for each vulnerability that must not be shipped. */
      readonly grave: readonly string[];
      /** How many others there are. */
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
 * Reads what `pnpm audit --json` says. A registry that does not answer, or has no such service, says nothing about us:
 * the check must not depend on somebody else's machine.
 */
export function readAudit(output: string): Audit {
  const answer = parse(output);
  const { advisories, error } = answer;
  if (advisories === undefined) {
    const [reason = ""] = (error?.message ?? output).trim().split("\n");
    return { kind: "unavailable", reason: reason.slice(0, 200) || "it said nothing" };
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

/** npm and npx may say something of their own around it. */
function parse(output: string): AuditJson {
  const start = output.indexOf("{");
  const end = output.lastIndexOf("}");
  try {
    return JSON.parse(output.slice(start, end + 1)) as AuditJson;
  } catch {
    return {};
  }
}
