/** Labels of an object, or those that a selector asks for. */
export type Labels = Readonly<Record<string, string>>;

/** An object of Kubernetes. What `spec` holds depends on its kind; `checkSchema` has seen that it is well formed. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Labels;
  };
  readonly spec?: unknown;
  /** Of a ConfigMap. */
  readonly data?: Labels;
}

/** A key of a ConfigMap or Secret. */
export interface Reference {
  readonly name: string;
  readonly key: string;
  readonly optional?: boolean;
}

export interface EnvVariable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly configMapKeyRef?: Reference; readonly secretKeyRef?: Reference };
}

export interface EnvSource {
  readonly configMapRef?: { readonly name: string };
  readonly secretRef?: { readonly name: string };
}

export interface Probe {
  readonly httpGet?: { readonly path: string; readonly port: string | number };
  readonly periodSeconds?: number;
  readonly failureThreshold?: number;
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
  readonly env?: readonly EnvVariable[];
  readonly envFrom?: readonly EnvSource[];
  readonly startupProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly lifecycle?: { readonly preStop?: { readonly sleep?: { readonly seconds: number } } };
  readonly resources?: {
    readonly requests?: Labels;
    readonly limits?: Labels;
  };
  readonly securityContext?: {
    readonly allowPrivilegeEscalation?: boolean;
    readonly readOnlyRootFilesystem?: boolean;
    readonly privileged?: boolean;
    readonly runAsUser?: number;
    readonly capabilities?: {
      readonly add?: readonly string[];
      readonly drop?: readonly string[];
    };
  };
}

export interface PodSpec {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly serviceAccountName?: string;
  readonly automountServiceAccountToken?: boolean;
  readonly enableServiceLinks?: boolean;
  readonly terminationGracePeriodSeconds?: number;
  readonly topologySpreadConstraints?: readonly unknown[];
  readonly volumes?: readonly {
    readonly name: string;
    readonly configMap?: { readonly name: string };
    readonly secret?: { readonly secretName: string };
  }[];
  readonly hostNetwork?: boolean;
  readonly securityContext?: {
    readonly runAsNonRoot?: boolean;
    readonly runAsUser?: number;
    readonly seccompProfile?: { readonly type: string };
  };
}

/** What a Deployment, a StatefulSet or a Job makes pods of. */
export interface Workload {
  readonly kind: string;
  readonly name: string;
  readonly labels: Labels;
  readonly pod: PodSpec;
  readonly selector: Labels | undefined;
}

interface WorkloadSpec {
  readonly selector?: { readonly matchLabels: Labels };
  readonly template: { readonly metadata: { readonly labels?: Labels }; readonly spec: PodSpec };
}

const WORKLOADS = new Set(["Deployment", "StatefulSet", "Job"]);

/** Everything of one kind. */
export function ofKind(manifests: readonly Manifest[], kind: string): readonly Manifest[] {
  return manifests.filter((manifest) => manifest.kind === kind);
}

/** Everything that makes pods. */
export function workloadsOf(manifests: readonly Manifest[]): readonly Workload[] {
  return manifests
    .filter(({ kind }) => WORKLOADS.has(kind))
    .map(({ kind, metadata, spec }) => {
      const { selector, template } = spec as WorkloadSpec;
      const labels = template.metadata.labels ?? {};
      return {
        kind,
        name: metadata.name,
        labels,
        pod: template.spec,
        selector: selector?.matchLabels,
      };
    });
}

/** All containers of a pod, those that come first included. */
export function containersOf({ pod }: Workload): readonly Container[] {
  return [...(pod.initContainers ?? []), ...pod.containers];
}

/** Where settings of a pod come from. */
interface Source {
  readonly kind: "ConfigMap" | "Secret";
  readonly name: string;
}

/** The ConfigMaps and Secrets that a pod's variables and volumes come from. */
export function referencesOf(workload: Workload): readonly Source[] {
  const containers = containersOf(workload);
  const sources = [
    ...containers.flatMap(({ envFrom = [] }) => envFrom),
    ...(workload.pod.volumes ?? []).map(({ configMap, secret }) => ({
      configMapRef: configMap,
      secretRef: secret && { name: secret.secretName },
    })),
  ];
  const keys = containers.flatMap(({ env = [] }) =>
    env.flatMap(({ valueFrom }) => valueFrom ?? []),
  );
  return [
    ...toSources("ConfigMap", [
      ...sources.map(({ configMapRef }) => configMapRef),
      ...keys.map(({ configMapKeyRef }) => configMapKeyRef),
    ]),
    ...toSources("Secret", [
      ...sources.map(({ secretRef }) => secretRef),
      ...keys.map(({ secretKeyRef }) => secretKeyRef),
    ]),
  ];
}

function toSources(
  kind: Source["kind"],
  references: readonly ({ readonly name: string } | undefined)[],
): readonly Source[] {
  return references.flatMap((one) => (one === undefined ? [] : [{ kind, name: one.name }]));
}

/** As faults name it: `Service/posts`. */
export function nameOf({ kind, metadata }: Manifest): string {
  return `${kind}/${metadata.name}`;
}

/** Whether labels have everything that is asked for. */
export function matches(labels: Labels, wanted: Labels): boolean {
  return Object.entries(wanted).every(([name, value]) => labels[name] === value);
}

/** The name of one of our images, without registry and tag; undefined for somebody else's. */
export function ownImage(image: string): string | undefined {
  return /(?:^|\/)postrider\/([a-z]+)(?::|@|$)/.exec(image)?.[1];
}
