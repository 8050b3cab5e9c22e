import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv, type ValidateFunction } from "ajv";
import type { Manifest } from "./manifest.ts";
import { nameOf } from "./manifest.ts";
import type { KubernetesSchema } from "./schema-extract.ts";

/** What Kubernetes 1.34 knows of our kinds; made by `scripts/kubernetes-schema.ts`. */
export const SCHEMA_FILE: string = join(import.meta.dirname, "kubernetes-1.34.json");

const ajv = new Ajv({ strict: false, allErrors: true });
const validators = new Map<string, ValidateFunction>();

function loadKinds(): Readonly<Record<string, string>> {
  const { kinds, definitions } = JSON.parse(readFileSync(SCHEMA_FILE, "utf8")) as KubernetesSchema;
  ajv.addSchema({ $id: "kubernetes", definitions });
  return kinds;
}

let kinds: Readonly<Record<string, string>> | undefined;

function validatorOf(key: string): ValidateFunction | undefined {
  kinds ??= loadKinds();
  const definition = kinds[key];
  if (definition === undefined) return undefined;
  const made =
    validators.get(key) ?? ajv.compile({ $ref: `kubernetes#/definitions/${definition}` });
  validators.set(key, made);
  return made;
}

/** Each field that Kubernetes does not know, lacks, or has another type for. */
export function checkSchema(manifests: readonly Manifest[]): readonly string[] {
  return manifests.flatMap((manifest) => {
    const key = `${manifest.apiVersion}/${manifest.kind}`;
    const validate = validatorOf(key);
    if (validate === undefined)
      return [
        `${nameOf(manifest)}: there is no schema of ${key}, see scripts/kubernetes-schema.ts`,
      ];
    if (validate(manifest)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) =>
        `${nameOf(manifest)}${instancePath} ${message ?? "is wrong"} ${JSON.stringify(params)}`,
    );
  });
}
