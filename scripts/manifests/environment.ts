import { type Container, type EnvEntry, type Manifest, ofKind } from "./manifest.ts";

export interface Variable {
  readonly value: string;
  readonly isSecret: boolean;
}

/** With the references to a missing ConfigMap, Secret or key. */
export interface ContainerEnvironment {
  readonly variables: ReadonlyMap<string, Variable>;
  readonly faults: readonly string[];
}

type Kind = "ConfigMap" | "Secret";

/**
 * Sample values for Secrets that the operator creates; each has the form that the code requires.
 */
const SAMPLES: Readonly<Record<string, string>> = {
  DATABASE_URL: "postgres://user:password@database.example.internal:5432/postrider",
  MIGRATION_DATABASE_URL: "postgres://user:password@database.example.internal:5432/postrider",
  CREDENTIAL_KEYS: `k1:${Buffer.alloc(32, 1).toString("base64")}`,
  IDENTITY_KEYS: Buffer.alloc(32, 3).toString("base64url"),
  TRUSTED_IDENTITIES: `gateway:${Buffer.alloc(32, 4).toString("base64url")}`,
  HANDLE_KEYS: `k1:${Buffer.alloc(32, 2).toString("base64")}`,
};
const OTHER_SAMPLE = "sample-of-a-secret-that-is-long-enough";

/** As the kubelet does. */
export function readEnvironment(
  container: Container,
  manifests: readonly Manifest[],
): ContainerEnvironment {
  const variables = new Map<string, Variable>();
  const faults: string[] = [];
  for (const { configMapRef, secretRef } of container.envFrom ?? []) {
    const [kind, name] = toSource(configMapRef, secretRef);
    const data = dataOf(manifests, kind, name);
    if (data === undefined) faults.push(`there is no ${kind} ${name}`);
    for (const [key, value] of Object.entries(data ?? {}))
      variables.set(key, { value, isSecret: kind === "Secret" });
  }
  for (const entry of container.env ?? []) {
    const variable = readEntry(entry, manifests);
    if (typeof variable === "string") faults.push(`${entry.name}: ${variable}`);
    else if (variable !== undefined) variables.set(entry.name, variable);
  }
  return { variables, faults };
}

function toSource(
  configMap: { readonly name: string } | undefined,
  secret: { readonly name: string } | undefined,
): readonly [Kind, string] {
  return configMap === undefined ? ["Secret", secret?.name ?? ""] : ["ConfigMap", configMap.name];
}

/** Undefined where it may be absent, or a sentence that says what is missing. */
function readEntry(
  { value: literal = "", valueFrom }: EnvEntry,
  manifests: readonly Manifest[],
): Variable | undefined | string {
  if (valueFrom === undefined) return { value: literal, isSecret: false };
  const { configMapKeyRef, secretKeyRef } = valueFrom;
  const [kind, name] = toSource(configMapKeyRef, secretKeyRef);
  const { key = "", optional } = configMapKeyRef ?? secretKeyRef ?? {};
  const isSecret = kind === "Secret";
  const value = dataOf(manifests, kind, name)?.[key] ?? sampleOf(manifests, kind, key);
  if (value !== undefined) return { value, isSecret };
  return optional === true ? undefined : `${kind} ${name} has no key ${key}`;
}

/** If the overlay generates no Secret, the operator creates all of them. */
function sampleOf(manifests: readonly Manifest[], kind: Kind, key: string): string | undefined {
  if (kind === "ConfigMap" || ofKind(manifests, "Secret").length > 0) return undefined;
  return SAMPLES[key] ?? OTHER_SAMPLE;
}

function dataOf(manifests: readonly Manifest[], kind: Kind, name: string) {
  const data = ofKind(manifests, kind).find(({ metadata }) => metadata.name === name)?.data;
  if (kind === "ConfigMap" || data === undefined) return data;
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]),
  );
}
