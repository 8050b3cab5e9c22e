import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { schemaFile } from "./manifests/check-schema.ts";

// Writes the schemas with which check-schema.ts checks the manifests: those of Kubernetes, from its
// OpenAPI description, and those of other projects, from the files of their custom resources. Run
// it after a change of a version, or when a manifest has a kind that is not in the list:
//   go mod download k8s.io/kubernetes@v1.34.4 sigs.k8s.io/gateway-api@v1.6.1 \
//     github.com/cert-manager/cert-manager@v1.20.0 github.com/kedacore/keda/v2@v2.20.2 \
//     github.com/prometheus-operator/prometheus-operator@v0.85.0
//   cd "$(go env GOMODCACHE)"
//   node …/scripts/kubernetes-schema.ts k8s.io/kubernetes@v1.34.4/api/openapi-spec/swagger.json \
//     sigs.k8s.io/gateway-api@*/config/crd/standard/*_{gateways,httproutes}.yaml \
//     github.com/cert-manager/cert-manager@*/deploy/crds/cert-manager.io_issuers.yaml \
//     github.com/kedacore/keda/v2@*/config/crd/bases/*_scaledobjects.yaml \
//     github.com/prometheus-operator/prometheus-operator@*/example/prometheus-operator-crd/*_{podmonitors,prometheusrules}.yaml
const FOLDER = join(import.meta.dirname, "manifests/kubernetes-1.34");

const KINDS = [
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
];

/**
 * Kubernetes types whose values may be text or numbers, although the OpenAPI description only
 * states text.
 */
const TEXT_OR_NUMBER = new Set([
  "io.k8s.apimachinery.pkg.api.resource.Quantity",
  "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
]);

interface Node {
  readonly $ref?: string;
  readonly type?: string;
  readonly items?: Node;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly additionalProperties?: Node;
  readonly required?: readonly string[];
}

interface Definition extends Node {
  readonly "x-kubernetes-group-version-kind"?: readonly {
    readonly group: string;
    readonly version: string;
    readonly kind: string;
  }[];
}

interface CustomResource {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly {
      readonly name: string;
      readonly storage: boolean;
      readonly schema: { readonly openAPIV3Schema: Node };
    }[];
  };
}

/** Forbids unknown fields, because the API server would ignore them silently. */
function toSchema(node: Node): object {
  const { $ref, type, items, properties, additionalProperties, required } = node;
  if ($ref !== undefined) return { $ref };
  return {
    type,
    items: items && toSchema(items),
    additionalProperties: additionalProperties && toSchema(additionalProperties),
    ...(properties && { properties: mapValues(properties, toSchema), additionalProperties: false }),
    required,
  };
}

function mapValues<T, U>(object: Readonly<Record<string, T>>, map: (value: T) => U) {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, map(value)]));
}

function write(kind: string, apiVersion: string, schema: object): void {
  const file = join(FOLDER, schemaFile(kind, apiVersion));
  writeFileSync(file, `${JSON.stringify(schema)}\n`);
}

const [description = "", ...customResources] = process.argv.slice(2);
const { definitions } = JSON.parse(readFileSync(description, "utf8")) as {
  readonly definitions: Readonly<Record<string, Definition>>;
};
mkdirSync(FOLDER, { recursive: true });
const needed = new Set<string>();
for (const [name, definition] of Object.entries(definitions))
  for (const { group, version, kind } of definition["x-kubernetes-group-version-kind"] ?? []) {
    const apiVersion = group === "" ? version : `${group}/${version}`;
    if (!KINDS.includes(`${apiVersion}/${kind}`)) continue;
    needed.add(name);
    write(kind, apiVersion, { $ref: `_definitions.json#/definitions/${name}` });
  }

for (const file of customResources)
  for (const document of parseAllDocuments(readFileSync(file, "utf8"))) {
    const { group, names, versions } = (document.toJS() as CustomResource).spec;
    for (const { name, storage, schema } of versions)
      if (storage) write(names.kind, `${group}/${name}`, toSchema(schema.openAPIV3Schema));
  }

// The set `needed` grows during the iteration: each definition adds the definitions that it refers
// to.
for (const name of needed) {
  const references = JSON.stringify(definitions[name]).matchAll(/"#\/definitions\/([^"]+)"/g);
  for (const [, reference = ""] of references) needed.add(reference);
}
// One definition per line, so that the diff of a new version can be read.
const lines = Object.entries(definitions)
  .filter(([name]) => needed.has(name))
  .map(([name, definition]) => {
    const isEither = TEXT_OR_NUMBER.has(name);
    const schema = isEither ? { type: ["string", "number"] } : toSchema(definition);
    return `${JSON.stringify(name)}:${JSON.stringify(schema)}`;
  });
writeFileSync(join(FOLDER, "_definitions.json"), `{"definitions":{\n${lines.join(",\n")}\n}}\n`);
