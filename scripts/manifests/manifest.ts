import { isService, type ServiceName } from "../services/settings.ts";

export type Labels = Readonly<Record<string, string>>;

/** A Kubernetes object. `checkSchema` has checked that `spec` has the shape of its kind. */
export interface Manifest<Spec = unknown> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Labels;
  };
  readonly spec?: Spec;
  readonly data?: Labels;
}

interface KeyReference {
  readonly name: string;
  readonly key: string;
  readonly optional?: boolean;
}

export interface EnvEntry {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly configMapKeyRef?: KeyReference;
    readonly secretKeyRef?: KeyReference;
  };
}

interface Probe {
  readonly httpGet?: { readonly path: string; readonly port: string | number };
  readonly periodSeconds?: number;
  readonly failureThreshold?: number;
  readonly terminationGracePeriodSeconds?: number;
}

interface ContainerSecurity {
  readonly privileged?: boolean;
  readonly readOnlyRootFilesystem?: boolean;
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
  readonly allowPrivilegeEscalation?: boolean;
  readonly capabilities?: { readonly add?: readonly string[]; readonly drop?: readonly string[] };
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
  readonly env?: readonly EnvEntry[];
  readonly envFrom?: readonly {
    readonly configMapRef?: { readonly name: string };
    readonly secretRef?: { readonly name: string };
  }[];
  readonly startupProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly lifecycle?: { readonly preStop?: { readonly sleep?: { readonly seconds: number } } };
  readonly resources?: { readonly limits?: Labels; readonly requests?: Labels };
  readonly securityContext?: ContainerSecurity;
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
    readonly emptyDir?: object;
    readonly configMap?: { readonly name: string };
    readonly secret?: { readonly secretName: string };
  }[];
  readonly securityContext?: {
    readonly runAsNonRoot?: boolean;
    readonly runAsUser?: number;
    readonly runAsGroup?: number;
    readonly seccompProfile?: { readonly type: string };
  };
}

/** A Deployment, StatefulSet or Job, with the pods that it creates. */
export interface Workload {
  /** Kind and name of the workload, for example `Deployment/posts`. */
  readonly where: string;
  readonly kind: string;
  readonly name: string;
  /** Of the workload itself, by which `kubectl` selects it. */
  readonly objectLabels: Labels;
  /** Of its pods. */
  readonly labels: Labels;
  /** Of the pods that belong to it. A Job has none: Kubernetes sets it. */
  readonly selector: Labels;
  /** Undefined where an autoscaler sets it. */
  readonly replicas: number | undefined;
  readonly pod: PodSpec;
}

interface WorkloadSpec {
  readonly selector?: { readonly matchLabels?: Labels };
  readonly replicas?: number;
  readonly template: { readonly metadata: { readonly labels?: Labels }; readonly spec: PodSpec };
}

export function ofKind<Spec = unknown>(
  manifests: readonly Manifest[],
  kind: string,
): readonly Manifest<Spec>[] {
  return manifests.filter((manifest) => manifest.kind === kind) as Manifest<Spec>[];
}

export function workloadsOf(manifests: readonly Manifest[]): readonly Workload[] {
  return ["Deployment", "StatefulSet", "Job"].flatMap((kind) =>
    ofKind<WorkloadSpec>(manifests, kind).flatMap(({ metadata: { name, labels }, spec }) => {
      if (spec === undefined) return [];
      const { template, selector, replicas } = spec;
      return [
        {
          where: `${kind}/${name}`,
          kind,
          name,
          objectLabels: labels ?? {},
          labels: template.metadata.labels ?? {},
          selector: selector?.matchLabels ?? {},
          replicas,
          pod: template.spec,
        },
      ];
    }),
  );
}

/**
 * By the image: Deployments can run one service with different settings. Undefined for others, also
 * for those that run another program of a service's image.
 */
export function serviceOf({ kind, pod }: Workload): ServiceName | undefined {
  if (kind !== "Deployment") return undefined;
  return pod.containers
    .filter(({ command, args }) => command === undefined && args === undefined)
    .map(({ image }) => ownImage(image) ?? "")
    .find(isService);
}

export function containersOf({ pod }: Workload): readonly Container[] {
  return [...(pod.initContainers ?? []), ...pod.containers];
}

export function portsOf({ pod }: Workload): readonly { name?: string; containerPort: number }[] {
  return pod.containers.flatMap(({ ports = [] }) => ports);
}

/** For messages, for example `Service/posts`. */
export function nameOf({ kind, metadata }: Manifest): string {
  return `${kind}/${metadata.name}`;
}

export function matches(labels: Labels, wanted: Labels): boolean {
  return Object.entries(wanted).every(([name, value]) => labels[name] === value);
}

/** Without registry and tag; undefined for any other image. */
export function ownImage(image: string): string | undefined {
  return /(?:^|\/)postrider\/([a-z]+)(?::|@|$)/.exec(image)?.[1];
}
