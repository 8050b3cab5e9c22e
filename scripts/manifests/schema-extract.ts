/** A node of an OpenAPI 2 description, as far as Kubernetes uses it. */
interface OpenApiNode {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly items?: OpenApiNode;
  readonly properties?: Readonly<Record<string, OpenApiNode>>;
  readonly additionalProperties?: OpenApiNode;
  readonly required?: readonly string[];
}

/** The description of its API that comes with Kubernetes. */
export interface OpenApi {
  readonly definitions: Readonly<Record<string, Definition>>;
}

interface Definition extends OpenApiNode {
  readonly "x-kubernetes-group-version-kind"?: readonly {
    readonly group: string;
    readonly version: string;
    readonly kind: string;
  }[];
}

/** What a manifest is held against: JSON Schema, whose `kinds` name the definition of each kind we use. */
export interface KubernetesSchema {
  readonly kinds: Readonly<Record<string, string>>;
  readonly definitions: Readonly<Record<string, object>>;
}

/** `apiVersion/kind` of everything in our manifests. */
const KINDS = new Set([
  "v1/ConfigMap",
  "v1/Namespace",
  "v1/PersistentVolumeClaim",
  "v1/Secret",
  "v1/Service",
  "v1/ServiceAccount",
  "apps/v1/Deployment",
  "apps/v1/StatefulSet",
  "autoscaling/v2/HorizontalPodAutoscaler",
  "batch/v1/Job",
  "networking.k8s.io/v1/Ingress",
  "networking.k8s.io/v1/NetworkPolicy",
  "policy/v1/PodDisruptionBudget",
]);

/** Written as text or as a number, which the description does not say. */
const TEXT_OR_NUMBER = new Set([
  "io.k8s.apimachinery.pkg.api.resource.Quantity",
  "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
]);

const nameOf = (ref: string): string => ref.slice("#/definitions/".length);

/**
 * Takes our kinds and what they are made of out of the description, without its texts, and closes them: the API server
 * drops a field that it does not know in silence, here it is a fault.
 */
export function extractSchema({ definitions }: OpenApi): KubernetesSchema {
  const kinds: Record<string, string> = {};
  for (const [name, definition] of Object.entries(definitions)) {
    for (const { group, version, kind } of definition["x-kubernetes-group-version-kind"] ?? []) {
      const key = [group, version, kind].filter((part) => part !== "").join("/");
      if (KINDS.has(key)) kinds[key] = name;
    }
  }
  const taken: Record<string, object> = {};
  const waiting = Object.values(kinds);
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const definition = definitions[name];
    if (definition === undefined || Object.hasOwn(taken, name)) continue;
    taken[name] = TEXT_OR_NUMBER.has(name)
      ? { type: ["string", "number"] }
      : toSchema(definition, (ref) => waiting.push(nameOf(ref)));
  }
  return { kinds, definitions: taken };
}

function toSchema(node: OpenApiNode, follow: (ref: string) => void): object {
  if (node.$ref !== undefined) {
    follow(node.$ref);
    return { $ref: node.$ref };
  }
  const { type, items, properties, additionalProperties, required } = node;
  return {
    ...(type === undefined ? {} : { type }),
    ...(items === undefined ? {} : { items: toSchema(items, follow) }),
    ...(additionalProperties === undefined
      ? {}
      : { additionalProperties: toSchema(additionalProperties, follow) }),
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, one]) => [name, toSchema(one, follow)]),
          ),
          additionalProperties: false,
        }),
    ...(required === undefined ? {} : { required }),
  };
}
