import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import { type Manifest, nameOf } from "./manifest.ts";

/** Written by scripts/kubernetes-schema.ts. */
const SCHEMAS = join(import.meta.dirname, "kubernetes-1.34");
const DEFINITIONS = "_definitions.json";

const readSchema = (file: string): object =>
  JSON.parse(readFileSync(join(SCHEMAS, file), "utf8")) as object;

const ajv = new Ajv({ allErrors: true, strict: false }).addSchema(
  readSchema(DEFINITIONS),
  DEFINITIONS,
);

/** The name of a schema contains only the first label of an API group. */
export function schemaFile(kind: string, apiVersion: string): string {
  return `${kind}-${apiVersion.replace(/[.][^/]*\//, "/").replace("/", "-")}.json`.toLowerCase();
}

/** Also reports unknown fields, which the API server would ignore silently. */
export function checkSchema(manifests: readonly Manifest[]): readonly string[] {
  return manifests.flatMap((manifest) => {
    const file = schemaFile(manifest.kind, manifest.apiVersion);
    if (!existsSync(join(SCHEMAS, file)))
      return [`${nameOf(manifest)}: there is no schema for ${manifest.apiVersion}`];
    const validate = ajv.getSchema(file) ?? ajv.addSchema(readSchema(file), file).getSchema(file);
    if (validate?.(manifest) === true) return [];
    return (validate?.errors ?? []).map(
      ({ instancePath, message, params }) =>
        `${nameOf(manifest)}${instancePath} ${message} ${JSON.stringify(params)}`,
    );
  });
}
