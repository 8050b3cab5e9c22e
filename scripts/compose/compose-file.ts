import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { parse } from "yaml";
import { root } from "../check/run-command.ts";

export type Variables = Readonly<Record<string, string>>;

export interface ComposeService {
  readonly image: string;
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly environment?: Variables;
  readonly ports?: readonly string[];
  readonly tmpfs?: readonly string[];
  readonly volumes?: readonly string[];
  readonly env_file?: readonly string[];
  readonly mem_limit?: string;
  readonly logging?: { readonly options: Variables };
  readonly profiles?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly stop_grace_period?: string;
  readonly network_mode?: string;
  readonly networks?: readonly string[];
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
}

export type ComposeServices = Readonly<Record<string, ComposeService>>;

const REFERENCE = /\$\$|\$\{(\w+)(?:(:?[-?])([^}]*))?\}/g;

/**
 * As Docker Compose does: `${…}` is replaced, later files add to earlier ones. Throws with the
 * variable that a file requires and that has no value.
 */
export function readCompose(files: readonly string[], variables: Variables): ComposeServices {
  const merged = files
    .map((file): unknown => parse(readFileSync(join(root, file), "utf8"), { merge: true }))
    .reduce((all, one) => add(all, one));
  const { services } = replaceAll(merged, variables) as { services: ComposeServices };
  return services;
}

export function readEnvFile(file: string): Variables {
  return parseEnv(readFileSync(file, "utf8")) as Variables;
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function add(one: unknown, other: unknown): unknown {
  if (Array.isArray(one) && Array.isArray(other)) return [...(one as unknown[]), ...other];
  if (!isMap(one) || !isMap(other)) return other;
  const added = Object.entries(other).map(([name, value]) => [
    name,
    name in one ? add(one[name], value) : value,
  ]);
  return { ...one, ...Object.fromEntries(added) };
}

function replaceAll(value: unknown, variables: Variables): unknown {
  if (typeof value === "string") return replace(value, variables);
  if (Array.isArray(value)) return value.map((item) => replaceAll(item, variables));
  if (!isMap(value)) return value;
  const entries = Object.entries(value).map(([name, item]) => [name, replaceAll(item, variables)]);
  return Object.fromEntries(entries);
}

function replace(text: string, variables: Variables): string {
  return text.replace(REFERENCE, (all, name?: string, operator = "", word = "") => {
    if (all === "$$" || name === undefined) return "$";
    const value = variables[name];
    const isThere = value !== undefined && (value !== "" || !operator.startsWith(":"));
    if (isThere) return value;
    if (operator.endsWith("?")) throw new Error(`${name} is required`);
    return word;
  });
}
