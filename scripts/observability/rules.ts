import { parse, stringify } from "yaml";

export const RULE_FILES = ["slo.yaml", "alerts.yaml"] as const;

export interface Rule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: { readonly summary: string; readonly runbook_url: string };
}

interface Rules {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];
}

export const parseRules = (text: string): Rules => parse(text) as Rules;

/** Puts an address before the path of each runbook; without one the paths stay. */
export function withRunbooks(text: string, address: string | undefined): string {
  if (address === undefined) return text;
  return text.replaceAll("runbook_url: ", `runbook_url: ${address.replace(/\/$/, "")}/`);
}

/** The same rules for the Prometheus Operator. */
export function toPrometheusRule(texts: readonly string[]): string {
  const object = {
    apiVersion: "monitoring.coreos.com/v1",
    kind: "PrometheusRule",
    metadata: { name: "postrider" },
    spec: { groups: texts.flatMap((text) => parseRules(text).groups) },
  };
  return `# Written by scripts/observability.ts.\n${stringify(object, { lineWidth: 0 })}`;
}
