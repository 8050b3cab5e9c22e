import {
  type Container,
  type EnvSource,
  type EnvVariable,
  type Labels,
  type Manifest,
  ofKind,
  type Reference,
} from "./manifest.ts";

/** Where a variable of a container comes from. */
export interface Variable {
  readonly value: string;
  readonly isSecret: boolean;
}

/** The variables of a container, and what is wrong with how it gets them. */
export interface ContainerEnvironment {
  readonly variables: ReadonlyMap<string, Variable>;
  readonly faults: readonly string[];
}

/** What stands in for a secret that the operator makes: of the right shape, and nobody's. */
const SAMPLES: Readonly<Record<string, string>> = {
  DATABASE_URL: "postgres://user:password@database.example.internal:5432/postrider",
  CREDENTIAL_KEYS: `k1:${Buffer.alloc(32, 1).toString("base64")}`,
  HANDLE_KEYS: `k1:${Buffer.alloc(32, 2).toString("base64")}`,
};
const OTHER_SAMPLE = "sample-of-a-secret-that-is-long-enough";

type Kind = "ConfigMap" | "Secret";

/** The ConfigMaps and Secrets of a render. Secrets that nobody generates are made by the operator. */
class Sources {
  readonly #manifests: readonly Manifest[];

  constructor(manifests: readonly Manifest[]) {
    this.#manifests = manifests;
  }

  /** Undefined when it is not there. */
  find(kind: Kind, name: string): Labels | undefined {
    const data = ofKind(this.#manifests, kind).find(({ metadata }) => metadata.name === name)?.data;
    if (kind === "ConfigMap" || data === undefined) return data;
    const decoded = Object.entries(data).map(([key, value]) => [
      key,
      Buffer.from(value, "base64").toString(),
    ]);
    return Object.fromEntries(decoded) as Labels;
  }

  /** Undefined when it is not there. */
  findKey(kind: Kind, { name, key }: Reference): Variable | undefined {
    const isSecret = kind === "Secret";
    const value = this.find(kind, name)?.[key];
    if (value !== undefined) return { value, isSecret };
    const isOperators = isSecret && ofKind(this.#manifests, "Secret").length === 0;
    return isOperators ? { value: SAMPLES[key] ?? OTHER_SAMPLE, isSecret } : undefined;
  }
}

/** A variable, or why it is not there; undefined when that is no fault. */
type Found = Variable | string | undefined;

/** Works out a container's variables, as the kubelet would. Secrets that are made elsewhere are sampled. */
export function readEnvironment(
  container: Container,
  manifests: readonly Manifest[],
): ContainerEnvironment {
  const sources = new Sources(manifests);
  const found: readonly (readonly [string, Found])[] = [
    ...(container.envFrom ?? []).flatMap((source) => readSource(source, sources)),
    ...(container.env ?? []).map(
      (variable) => [variable.name, readVariable(variable, sources)] as const,
    ),
  ];
  const variables = new Map<string, Variable>();
  const faults: string[] = [];
  for (const [name, one] of found) {
    if (typeof one === "string") faults.push(one);
    else if (one !== undefined) variables.set(name, one);
  }
  return { variables, faults };
}

function readSource(
  { configMapRef, secretRef }: EnvSource,
  sources: Sources,
): readonly (readonly [string, Found])[] {
  const kind = configMapRef === undefined ? "Secret" : "ConfigMap";
  const name = (configMapRef ?? secretRef)?.name ?? "";
  const data = sources.find(kind, name);
  if (data === undefined) return [["", `${kind} ${name} is not there`]];
  const isSecret = kind === "Secret";
  return Object.entries(data).map(([key, value]) => [key, { value, isSecret }]);
}

function readVariable({ name, value = "", valueFrom }: EnvVariable, sources: Sources): Found {
  if (valueFrom === undefined) return { value, isSecret: false };
  const { secretKeyRef, configMapKeyRef } = valueFrom;
  const [kind, reference] =
    secretKeyRef === undefined
      ? (["ConfigMap", configMapKeyRef] as const)
      : (["Secret", secretKeyRef] as const);
  if (reference === undefined) return `${name} comes from nowhere`;
  const found = sources.findKey(kind, reference);
  if (found !== undefined || reference.optional === true) return found;
  return `${name}: ${kind} ${reference.name} has no ${reference.key}`;
}
